package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// An answer without a count is charged by its length.
func TestWhatIsNotToldIsEstimated(t *testing.T) {
	body := `{"model":"big","system":"` + strings.Repeat("x", 200) + `"}`
	server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("y", 500))
	})
	d := newTestModel(t, server.URL, nil)
	d.ask(messages, body)
	settled(t, d)
	if got, want := d.model.Spent().Usage, (stream.Usage{Input: int64(len(body)) / 5, Output: 100}); got != want {
		t.Errorf("used %+v, want %+v", got, want)
	}
}

// A company's proxy is dialled at its address, with or without a port.
func TestWhereACompanysProxyIs(t *testing.T) {
	for address, want := range map[string]string{
		"http://proxy.example":        "proxy.example:80",
		"https://proxy.example":       "proxy.example:443",
		"http://proxy.example:3128":   "proxy.example:3128",
		"http://[2001:db8::1]:3128":   "[2001:db8::1]:3128",
		"http://me:word@10.0.0.1:808": "10.0.0.1:808",
	} {
		upstream := must.Get(egress.ParseUpstream(address))(t)
		s := newTestProxy(t, func(s *testProxy) { s.proxy.Route.Upstream = upstream })
		l := s.tunnel("example.com:443")
		_, _ = l.Write(hello(t, "example.com"))
		l.closed(t)
		if _, dials, _ := s.log(); fmt.Sprint(dials) != "["+want+"]" {
			t.Errorf("%s is dialled at %q, want %s", address, dials, want)
		}
	}
}

package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// A forwarded request is JSON and has only the query of its path, for any
// request of the client.
func TestRequestsAreOfOneForm(t *testing.T) {
	for path, want := range map[string]string{
		messages:                         "",
		messages + "?beta=true":          "beta=true",
		messages + "?beta=true&debug=1":  "beta=true",
		messages + "?beta=false&debug=1": "",
		streamed + "?alt=sse":            "alt=sse",
		streamed + "?alt=sse&key=mine":   "alt=sse",
		generate + "?alt=json":           "",
	} {
		server := newReceiver(t, nil)
		d := newTestModel(t, server.URL, nil)
		d.ask(path, `{"model":"big"}`, "Content-Type: text/plain")
		hits := server.hits()
		if len(hits) != 1 || hits[0].URL.RawQuery != want || hits[0].Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s arrives as %+v, want the query %q", path, hits, want)
		}
	}
}

// Redirects of any form are not followed. Errors for a request are passed on.
func TestNoRedirectIsFollowed(t *testing.T) {
	for status, want := range map[int]int{299: 299, 300: 403, 302: 403, 308: 403, 399: 403, 400: 400} {
		server := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://elsewhere.example/")
			w.WriteHeader(status)
		})
		d := newTestModel(t, server.URL, nil)
		if got := d.ask(messages, `{"model":"big"}`); got.StatusCode != want || len(server.hits()) != 1 {
			t.Errorf("%d becomes %d after %d requests, want %d after one", status, got.StatusCode, len(server.hits()), want)
		}
	}
}

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
		upstream, err := egress.ParseUpstream(address)
		if err != nil {
			t.Fatal(err)
		}
		s := newTestProxy(t, func(s *testProxy) { s.proxy.Route.Upstream = upstream })
		l := s.tunnel("example.com:443")
		_, _ = l.Write(hello(t, "example.com"))
		l.closed(t)
		if _, dials, _ := s.log(); fmt.Sprint(dials) != "["+want+"]" {
			t.Errorf("%s is dialled at %q, want %s", address, dials, want)
		}
	}
}

// Invented names are reported in short.
func TestRefusalsAreShort(t *testing.T) {
	s := newTestProxy(t, nil)
	s.line().say(connect(strings.Repeat("x", 5000) + ":443"))
	for over := time.After(patience); ; {
		if _, _, refused := s.log(); len(refused) > 0 {
			if n := len(refused[0].What); n > 100 {
				t.Errorf("%d bytes are told: %.120s…", n, refused[0].What)
			}
			return
		}
		select {
		case <-over:
			t.Fatal("nothing was told")
		default:
		}
	}
}

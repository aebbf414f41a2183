package egress_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// Public reaches addresses from untrusted input if they are public or private hosts.
func TestPublicReachesNoPrivateAddress(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	at := must.Get(url.Parse(server.URL))(t)
	port, err := strconv.ParseUint(at.Port(), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	route := egress.Route{Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	home := egress.Name{Host: "127.0.0.1", Port: uint16(port)}
	for _, test := range []struct {
		host    string
		private []egress.Name
		reached int
	}{
		{"127.0.0.1", nil, 0},
		{"pictures.example", nil, 0}, // resolves to this machine
		{"pictures.example", []egress.Name{home}, 0},
		{"127.0.0.1", []egress.Name{home}, 1},
	} {
		route.Private, asked = test.private, 0
		client := http.Client{Transport: route.Public()}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+test.host+":"+at.Port(), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err == nil {
			_ = answer.Body.Close()
		}
		if asked != test.reached || (err == nil) != (test.reached == 1) {
			t.Errorf("%s, at home %v: asked %d times, %v", test.host, test.private, asked, err)
		}
	}
}

// At level external an attempt to connect shows whether something holds. One to the machine itself shows nothing.
func TestBeyond(t *testing.T) {
	for host, want := range map[string][]string{
		"192.0.2.7":    {"192.0.2.7:443"},
		"localhost":    egress.Anywhere(),
		"none.invalid": egress.Anywhere(),
	} {
		if got := egress.Beyond(t.Context(), egress.Name{Host: host, Port: 443}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
	for _, address := range egress.Anywhere() {
		if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsGlobalUnicast() || at.Addr().IsPrivate() {
			t.Errorf("%s (%v) is no address of another network", address, err)
		}
	}
}

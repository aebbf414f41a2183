package egress_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// The reason why a host is not dialled decides the hint: only a private address
// can be allowed as private.
func TestWhyAHostIsNotDialled(t *testing.T) {
	const private, near, never, unknown = "it has a private address; this would allow it: github.privateHosts: example.com",
		"its address lies on a network of this machine; this would allow it: github.privateHosts: example.com", "it has a reserved address", "its name is unknown"
	for addresses, want := range map[string]string{
		"10.0.0.1":                 private,
		"169.254.169.254":          never,
		"10.0.0.1 169.254.169.254": never,
		"169.254.169.254 10.0.0.1": never,
		"":                         unknown,
		"93.184.216.34":            near, // this machine's own, behind its firewall
		"93.184.216.99":            near, // on the same link
		"::ffff:93.184.216.34":     near,
		"2600:1f14:0:5::99":        near, // an interface has /56
		"93.184.217.34":            "",
		"2600:1f14:0:105::1":       "",
		"151.1.1.1":                "", // an interface has /8
	} {
		s := newTestProxy(t, func(s *testProxy) {
			s.proxy.Route.Resolve = func(context.Context, string) (found []netip.Addr, err error) {
				for a := range strings.FieldsSeq(addresses) {
					found = append(found, netip.MustParseAddr(a))
				}
				return found, nil
			}
			s.proxy.Route.Near = func() (near []net.Addr, err error) {
				for _, network := range []string{"93.184.216.34/24", "2600:1f14:0:5::1/56", "151.3.1.1/8", "2a00:1450:4001::1/3", "127.0.0.1/8"} {
					ip, of, err := net.ParseCIDR(network)
					if err != nil {
						t.Error(err)
						continue
					}
					near = append(near, &net.IPNet{IP: ip, Mask: of.Mask})
				}
				return near, nil
			}
		})
		if _, body := s.line().say(connect("example.com:443")); !strings.HasSuffix(body, want) || want == "" && strings.Contains(body, " address") {
			t.Errorf("%q: %s, want %s", addresses, body, want)
		}
	}
}

// The company's proxy is for outside hosts, never for the local machine.
func TestProxyFor(t *testing.T) {
	company := address(t, "http://proxy.example:3128")
	route := egress.Route{Upstream: company, Private: names(t, "files.home.example:8443"), NoProxy: ".corp.example,10.9.0.0/16"}
	plain := route.Plain()
	for to, outside := range map[string]bool{
		"https://example.com/": true, "http://93.184.216.34/": true, "https://home.example/": true,
		"https://files.home.example:8443/": false, "http://files.home.example/": false, "https://Files.Home.Example:8443/": false,
		"https://git.corp.example/": false, "https://corp.example/": true, "https://10.9.1.1/": false,
		"http://localhost:1/": false, "http://LOCALHOST:1/": false, "http://127.0.0.1:1/": false, "http://10.0.0.1/": false, "http://[::1]/": false,
	} {
		got := route.ProxyFor(address(t, to))
		if (got == company) != outside || !outside && got != nil {
			t.Errorf("to %s by %v, want by the company's: %t", to, got, outside)
		}
		asked, err := plain.Proxy(&http.Request{URL: address(t, to)})
		if asked != got || err != nil {
			t.Errorf("the program itself goes to %s by %v, %v, want %v", to, asked, err, got)
		}
	}
}

// Public reaches addresses from untrusted input if they are public or private hosts.
func TestPublicReachesNoPrivateAddress(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	route := egress.Route{Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}}
	home := egress.Name{Host: "127.0.0.1", Port: at.Port()}
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
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s:%d", test.host, at.Port()), nil)
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

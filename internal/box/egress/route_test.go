package egress_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
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

func TestErrorsGiveNoKeyAway(t *testing.T) {
	d := newTestModel(t, "http://127.0.0.1:1", func(m *egress.Model) {
		m.Transport = transport(func(*http.Request) (*http.Response, error) {
			return nil, errors.New("dial with " + realKey + " failed")
		})
	})
	got := d.ask(messages, `{"model":"big"}`)
	told := d.told()
	if got.StatusCode != http.StatusBadGateway || len(told) != 1 || told[0].Why != "it is not reached: dial with *** failed" || strings.Contains(got.text, realKey) {
		t.Errorf("answer %d %s, told %+v", got.StatusCode, got.text, told)
	}
}

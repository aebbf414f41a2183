package egress_test

import (
	"net/http"
	"testing"
)

// Without a list, every host is allowed by name. IP addresses and private hosts
// are not.
func TestAnyHostByItsName(t *testing.T) {
	s := newTestProxy(t, func(s *testProxy) {
		s.proxy.Allow, s.proxy.Any = nil, true
		s.hosts = map[string][]string{"public.example.": {"93.184.216.34"}, "home.example.": {"10.0.0.1"}, "meta.example.": {"169.254.169.254"}}
	})
	for target, want := range map[string]int{
		"public.example:443": http.StatusOK, "public.example:8443": http.StatusOK, "home.example:443": http.StatusForbidden,
		"meta.example:80": http.StatusForbidden, "93.184.216.34:443": http.StatusForbidden, "localhost:443": http.StatusBadGateway,
	} {
		if status, body := s.line().say(connect(target)); status != want {
			t.Errorf("CONNECT %s: %d %s, want %d", target, status, body, want)
		}
	}
	lookups, dials, _ := s.log()
	if len(dials) > 0 {
		t.Errorf("looked up %q, dialled %q before a word of TLS", lookups, dials)
	}
}

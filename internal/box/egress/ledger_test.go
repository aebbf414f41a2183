package egress_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// Traffic is sorted by host, so that journals can be compared.
func TestTrafficIsInOrder(t *testing.T) {
	silent, _ := listener(t)
	hosts := []string{"d.example", "b.example", "e.example", "a.example", "c.example"}
	s := newTestProxy(t, func(s *testProxy) {
		s.to(silent)
		s.proxy.Allow = names(t, hosts...)
		for _, host := range hosts {
			s.hosts[host+"."] = []string{"93.184.216.34"}
		}
	})
	for _, host := range hosts {
		_, _ = s.tunnel(host + ":443").Write(hello(t, host))
	}
	for over := time.After(patience); len(s.proxy.Traffic()) < len(hosts); {
		select {
		case <-over:
			t.Fatalf("of %d hosts %v passed", len(hosts), s.proxy.Traffic())
		default:
		}
	}
	var got []string
	for _, passed := range s.proxy.Traffic() {
		got = append(got, passed.Name.Host)
	}
	slices.Sort(hosts)
	if !slices.Equal(got, hosts) {
		t.Errorf("traffic of %q, want %q", got, hosts)
	}
}

// An agent that may reach every host invents names, each with an address. The hosts that are counted apart are few, and
// the others are counted together.
func TestTrafficOfManyHosts(t *testing.T) {
	for hosts, want := range map[int]int{1000: 1000, 5000: 1001} {
		var up int64
		all := egress.TrafficOf(hosts)
		for _, passed := range all {
			up += passed.Up
		}
		if len(all) != want || up != int64(hosts) || (all[0].Name == egress.Name{}) != (hosts > 1000) {
			t.Errorf("%d hosts: %d counted with %d bytes, the first is %+v", hosts, len(all), up, all[0])
		}
	}
}

package egress_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
)

// An agent that may reach every host invents names, each with an address. The hosts that are counted apart are few, and
// the others are counted together. Traffic is sorted by host, so that journals can be compared.
func TestTrafficOfManyHosts(t *testing.T) {
	for hosts, want := range map[int]int{1000: 1000, 5000: 1001} {
		var up int64
		all := egress.TrafficOf(hosts)
		for _, passed := range all {
			up += passed.Up
		}
		sorted := slices.IsSortedFunc(all, func(a, b egress.Traffic) int { return strings.Compare(a.Name.String(), b.Name.String()) })
		if !sorted || len(all) != want || up != int64(hosts) || (all[0].Name == egress.Name{}) != (hosts > 1000) {
			t.Errorf("%d hosts: %d counted with %d bytes, the first is %+v", hosts, len(all), up, all[0])
		}
	}
}

package confine_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
)

// What passed is told once: what came since, the largest first, of a host that is
// both a model's server and another apart.
func TestWhatPassedIsToldOnce(t *testing.T) {
	a, b := egress.Name{Host: "a.example", Port: 443}, egress.Name{Host: "b.example", Port: 8443}
	first := []egress.Traffic{{Name: a, Tunnels: 1, Up: 5, Down: 7}, {Name: a, Model: true, Tunnels: 2, Up: 9, Down: 90}}
	then := []egress.Traffic{{Name: a, Tunnels: 1, Up: 5, Down: 7}, {Name: b, Tunnels: 1, Up: 1}, {Name: a, Model: true, Tunnels: 3, Up: 10, Down: 99}}
	for _, test := range []struct {
		before, now []egress.Traffic
		want        *journal.EgressPassed
	}{
		{nil, nil, nil},
		{nil, first, &journal.EgressPassed{Hosts: []journal.Passage{{Host: "a.example:443", Times: 2, Up: 9, Down: 90}, {Host: "a.example:443", Times: 1, Up: 5, Down: 7}}}},
		{first, first, nil},
		{first, append([]egress.Traffic{{Tunnels: 3, Up: 4}}, first...), &journal.EgressPassed{Hosts: []journal.Passage{{Times: 3, Up: 4}}}},
		{first, then, &journal.EgressPassed{Hosts: []journal.Passage{{Host: "a.example:443", Times: 1, Up: 1, Down: 9}, {Host: "b.example:8443", Times: 1, Up: 1}}}},
	} {
		if diff := cmp.Diff(test.want, confine.Since(test.before, test.now)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Many requested hosts do not fill the journal.
func TestManyHostsAreFewInTheJournal(t *testing.T) {
	var many []egress.Traffic
	for i := range 60 {
		many = append(many, egress.Traffic{Name: egress.Name{Host: fmt.Sprintf("h%d.example", i), Port: 443}, Tunnels: 1, Up: int64(i), Down: 1})
	}
	got := confine.Since(nil, many)
	if len(got.Hosts) != 50 || got.Hosts[0].Host != "h59.example:443" || got.Hosts[49].Up != 10 {
		t.Errorf("%d hosts, %+v", len(got.Hosts), got.Hosts)
	}
	if diff := cmp.Diff(&journal.Passage{Times: 10, Up: 45, Down: 10}, got.Rest); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
}

// Package egress is the only network access of a sandbox: a Proxy to the hosts of an allow list, and a Model server
// that forwards requests to the real one, within a budget and with a key that the sandbox never sees. Both run outside
// the sandbox, on loopback listeners of the caller. The caller decides the lists. No message contains a key.
package egress

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Refusal is a refused request of the sandbox. Quotes from the request are cut short and in ASCII.
type Refusal struct {
	What  string // the host and port, or the part of a request to a model
	Why   string
	Input string // the setting that would allow it, such as "allow-domains: host"; empty: none
}

// maxRefusals limits the reports: an agent could invent names to fill the journal.
const maxRefusals = 50

type reporter struct {
	emit func(Refusal)

	mu       sync.Mutex
	reported map[string]bool
}

func (c *reporter) report(thing string, r Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.emit == nil || c.reported[thing] || len(c.reported) > maxRefusals {
		return
	}
	if c.reported == nil {
		c.reported = map[string]bool{}
	}
	c.reported[thing] = true
	if len(c.reported) > maxRefusals {
		r = Refusal{What: "many more", Why: fmt.Sprintf("more than %d different requests were refused", maxRefusals)}
	}
	c.emit(r)
}

// Traffic is the traffic with one host: of tunnels, or the bodies of requests to a model server.
type Traffic struct {
	Name    Name  // empty: the hosts beyond maxNames
	Model   bool  // the host is a model server
	Tunnels int64 // or requests
	Up      int64 // bytes from the sandbox
	Down    int64 // bytes to the sandbox
}

type trafficLog struct {
	mu   sync.Mutex
	flow map[Name]*flow
}

// maxNames limits the hosts that are counted apart: if every host is allowed, an agent can invent names.
const maxNames = 1000

type flow struct{ tunnels, up, down atomic.Int64 }

func (l *trafficLog) open(n Name) *flow {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flow == nil {
		l.flow = map[Name]*flow{}
	}
	if l.flow[n] == nil && len(l.flow) >= maxNames {
		n = Name{}
	}
	if l.flow[n] == nil {
		l.flow[n] = new(flow)
	}
	l.flow[n].tunnels.Add(1)
	return l.flow[n]
}

func (l *trafficLog) sums() []Traffic {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Traffic
	for n, f := range l.flow {
		all = append(all, Traffic{Name: n, Tunnels: f.tunnels.Load(), Up: f.up.Load(), Down: f.down.Load()})
	}
	slices.SortFunc(all, func(a, b Traffic) int { return cmp.Compare(a.Name.String(), b.Name.String()) })
	return all
}

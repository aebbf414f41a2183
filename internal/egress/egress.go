// Package egress is the only way out for those behind the sandbox: a Proxy that
// lets them through to the hosts of a list and to no other, and a Model server
// that asks the real one in their stead, with a key that they never see, as
// long as there is a budget. Both stand outside the sandbox and serve listeners
// that they are given, on loopback. It decides on no list, and no secret of its
// own stands in anything that it says.
package egress

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Refusal is what those inside asked for and did not get. What they wrote
// stands in it cut short and in ASCII, but otherwise as they wrote it.
type Refusal struct {
	What  string // the host and port, or what was wanted of the model
	Why   string
	Input string // the line that would allow it, as "allow-domains: host"; empty where none does
	Sent  bool   // the request was sent without it
}

// mostRefusals keeps an agent that makes up names from filling the journal.
const mostRefusals = 50

type reporter struct {
	tell func(Refusal)

	mu       sync.Mutex
	reported map[string]bool
}

func (c *reporter) report(thing string, r Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tell == nil || c.reported[thing] || len(c.reported) > mostRefusals {
		return
	}
	if c.reported == nil {
		c.reported = map[string]bool{}
	}
	c.reported[thing] = true
	if len(c.reported) > mostRefusals {
		r = Refusal{What: "many more", Why: fmt.Sprintf("more than %d different requests were refused", mostRefusals)}
	}
	c.tell(r)
}

// Traffic is what passed to and from one host: whole tunnels, or the bodies of a model's server.
type Traffic struct {
	Name    Name
	Model   bool  // it was asked as a model's server
	Tunnels int64 // or requests
	Up      int64 // bytes that those inside sent
	Down    int64 // bytes that they got
}

type trafficLog struct {
	mu   sync.Mutex
	flow map[Name]*flow
}

type flow struct{ tunnels, up, down atomic.Int64 }

func (l *trafficLog) open(n Name) *flow {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.flow == nil {
		l.flow = map[Name]*flow{}
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

func (f *flow) sent(body io.Reader) io.ReadCloser { return io.NopCloser(&countedBody{body, f}) }

type countedBody struct {
	io.Reader
	flow *flow
}

func (g *countedBody) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	g.flow.up.Add(int64(n))
	return n, err
}

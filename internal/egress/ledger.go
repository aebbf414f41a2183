package egress

import (
	"cmp"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Traffic is what passed to and from one host: through tunnels all of it, TLS
// and all; to and from a model's server the bodies.
type Traffic struct {
	Name    Name
	Model   bool  // it was asked as a model's server
	Tunnels int64 // or requests
	Up      int64 // bytes that those inside sent
	Down    int64 // bytes that they got
}

// ledger counts by host.
type ledger struct {
	mu   sync.Mutex
	flow map[Name]*flow
}

type flow struct{ tunnels, up, down atomic.Int64 }

func (l *ledger) open(n Name) *flow {
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

func (l *ledger) sums() []Traffic {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Traffic
	for n, f := range l.flow {
		all = append(all, Traffic{Name: n, Tunnels: f.tunnels.Load(), Up: f.up.Load(), Down: f.down.Load()})
	}
	slices.SortFunc(all, func(a, b Traffic) int { return cmp.Compare(a.Name.String(), b.Name.String()) })
	return all
}

// sent is a body that is counted as it goes.
func (f *flow) sent(body io.Reader) io.ReadCloser { return io.NopCloser(&going{body, f}) }

type going struct {
	io.Reader
	flow *flow
}

func (g *going) Read(p []byte) (int, error) {
	n, err := g.Reader.Read(p)
	g.flow.up.Add(int64(n))
	return n, err
}

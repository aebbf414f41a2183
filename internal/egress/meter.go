package egress

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Budget is what may be used of a model; 0 is no end to it.
type Budget struct {
	USD    float64
	Tokens int64
}

var errBudget = errors.New("the budget of this run is used")

// meter sums what all requests use, those under way included.
type meter struct {
	budget Budget
	prices map[string]price.Rate
	told   func(stream.Spent) // may be nil; called in order

	mu      sync.Mutex
	spent   stream.Usage
	usd     float64
	unknown bool  // something had no price
	heard   int64 // tokens when told was called last
	open    map[*bill]bool

	over atomic.Bool
}

// bill is what one request uses.
type bill struct {
	model  string
	usage  stream.Usage
	usd    float64
	ending bool // the answer is paid for and whole: nobody is served by cutting it
	cancel context.CancelCauseFunc

	stopped atomic.Bool
}

// cut ends the request.
func (b *bill) cut() {
	b.stopped.Store(true)
	b.cancel(errBudget)
}

// exhausted tells whether nothing may be asked any more.
func (m *meter) exhausted() bool { return m.over.Load() }

// begin opens the bill of a request that cancel would end.
func (m *meter) begin(model string, cancel context.CancelCauseFunc) *bill {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open == nil {
		m.open = map[*bill]bool{}
	}
	b := &bill{model: model, cancel: cancel}
	m.open[b] = true
	if m.exhausted() {
		b.cut()
	}
	return b
}

// tellEvery is after how many tokens the sum is told again: not after each word.
const tellEvery = 200

// set puts on b what its request has used by now, and cuts off all that are
// under way when that was the last of the budget.
func (m *meter) set(b *bill, used stream.Usage, ending bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b.ending = b.ending || ending
	if used == b.usage {
		return
	}
	m.spent = m.spent.Plus(stream.Usage{
		Input: used.Input - b.usage.Input, Output: used.Output - b.usage.Output,
		CacheRead: used.CacheRead - b.usage.CacheRead, CacheWrite: used.CacheWrite - b.usage.CacheWrite,
		CacheHour: used.CacheHour - b.usage.CacheHour,
	})
	usd, known := price.Of(b.model, price.Tokens(used), m.prices)
	m.usd += usd - b.usd
	m.unknown = m.unknown || !known
	b.usage, b.usd = used, usd
	m.check()
	if m.spent.Tokens()-m.heard >= tellEvery || m.exhausted() {
		m.tell()
	}
}

// end closes a bill.
func (m *meter) end(b *bill) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, b)
	m.tell()
}

// tell is called under the lock, so that no sum is told after a later one.
func (m *meter) tell() {
	m.heard = m.spent.Tokens()
	if m.told != nil {
		m.told(m.sum())
	}
}

func (m *meter) sum() stream.Spent {
	return stream.Spent{Usage: m.spent, Cost: stream.Cost{USD: max(m.usd, 0), Known: !m.unknown && m.spent != stream.Usage{}}}
}

// check holds the sum against the budget. What has no price counts in tokens
// only; the rest of the sum is still at least what was spent.
func (m *meter) check() {
	dollars := m.budget.USD > 0 && m.usd >= m.budget.USD
	tokens := m.budget.Tokens > 0 && m.spent.Tokens() >= m.budget.Tokens
	if !dollars && !tokens {
		return
	}
	m.over.Store(true) // for good: an estimate that comes out lower opens nothing again
	for b := range m.open {
		if !b.ending {
			b.cut()
		}
	}
}

// isCut tells whether the request was ended by the meter.
func (b *bill) isCut() bool { return b.stopped.Load() }

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
	fear    float64 // what had no price, at the dearest of its maker, and what nobody waited to be told
	feared  int64   // the tokens of the latter
	unknown bool    // something had no price
	heard   int64   // tokens when told was called last
	open    map[*bill]bool
	ended   chan struct{} // closed when a bill is, where somebody waits for that

	over atomic.Bool
}

// bill is what one request uses.
type bill struct {
	order  order
	usage  stream.Usage
	usd    float64
	fear   float64
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

// begin opens the bill of a request that cancel would end. One whose answer
// comes whole waits for others such, if all of them could be more than what is
// left.
func (m *meter) begin(ctx context.Context, what order, cancel context.CancelCauseFunc) (*bill, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for what.whole && !m.fits(what) {
		if m.ended == nil {
			m.ended = make(chan struct{})
		}
		ended := m.ended
		m.mu.Unlock()
		select {
		case <-ended:
		case <-ctx.Done():
		}
		m.mu.Lock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if m.open == nil {
		m.open = map[*bill]bool{}
	}
	b := &bill{order: what, cancel: cancel}
	m.open[b] = true
	if m.exhausted() {
		b.cut()
	}
	return b, nil
}

// fits tells whether an answer may begin beside those that are under way.
func (m *meter) fits(what order) bool {
	usd, tokens, alone := m.most(what), what.tokens(), true
	for b := range m.open {
		if b.order.whole {
			usd, tokens, alone = usd+m.most(b.order), tokens+b.order.tokens(), false
		}
	}
	dear := m.budget.USD > 0 && m.usd+m.fear+usd > m.budget.USD
	long := m.budget.Tokens > 0 && m.spent.Tokens()+m.feared+tokens > m.budget.Tokens
	return alone || m.exhausted() || !dear && !long
}

func (m *meter) most(what order) float64 {
	usd, _ := price.Most(what.model, what.most, m.prices)
	return usd
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
	usd, known := price.Of(b.order.model, price.Tokens(used), m.prices)
	fear := 0.0
	if !known {
		fear, _ = price.Most(b.order.model, price.Tokens(used), m.prices)
	}
	m.usd, m.fear = m.usd+usd-b.usd, m.fear+fear-b.fear
	m.unknown = m.unknown || !known
	b.usage, b.usd, b.fear = used, usd, fear
	m.check()
	if m.spent.Tokens()-m.heard >= tellEvery || m.exhausted() {
		m.tell()
	}
}

// suspect holds so many tokens of an answer against the budget, and puts them on
// no bill: nobody knows them.
func (m *meter) suspect(model string, output int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	usd, _ := price.Most(model, price.Tokens{Output: output}, m.prices)
	m.fear, m.feared = m.fear+usd, m.feared+output
	m.check()
}

// end closes a bill.
func (m *meter) end(b *bill) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, b)
	if m.ended != nil {
		close(m.ended)
		m.ended = nil
	}
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

// check holds the sum against the budget. What has no price counts as the dearest
// of its maker, or where none of those is known, in tokens only.
func (m *meter) check() {
	dollars := m.budget.USD > 0 && m.usd+m.fear >= m.budget.USD
	tokens := m.budget.Tokens > 0 && m.spent.Tokens()+m.feared >= m.budget.Tokens
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

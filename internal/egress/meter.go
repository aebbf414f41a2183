package egress

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Budget limits the use of models; 0 is no limit.
type Budget struct {
	USD    float64
	Tokens int64
}

// Spent is the use of models so far.
type Spent struct {
	Usage   stream.Usage
	Cost    stream.Cost
	Charged float64 // dollars charged to the budget: Cost, and estimates for use without a price or a count
	Stopped string  // why all requests are refused; empty: they are not
}

var (
	errBudget = errors.New("the budget of this run is used")
	errTurn   = errors.New("no agent is at work")
)

// meter sums the use of all requests, open ones included. A request is sent if its
// maximum cost fits into the budget beside the maximum cost of the open requests.
// Otherwise it waits for them. If no other request is open, it is sent if its input
// is likely to fit. Its answer is cut off when the budget is used.
type meter struct {
	budget Budget
	prices map[string]price.Rate
	turn   chan struct{} // held by the first waiting request

	mu      sync.Mutex
	usage   stream.Usage
	usd     float64
	unknown bool   // some use has no price
	counted amount // charged to the budget
	stopped string
	open    map[*bill]bool
	freed   chan struct{} // closed when there may be more room; nil: no request waits
}

type amount struct {
	usd    float64
	tokens int64
}

func (a amount) plus(b amount) amount { return amount{a.usd + b.usd, a.tokens + b.tokens} }

func (a amount) beyond(b amount) amount {
	return amount{max(a.usd-b.usd, 0), max(a.tokens-b.tokens, 0)}
}

type bill struct {
	order   costBound
	used    progress
	usd     float64 // the known cost
	counted amount  // charged to the budget
	most    amount  // the maximum
	cancel  context.CancelCauseFunc

	stopped atomic.Bool
}

type progress struct {
	stream.Usage
	inputKnown bool // the maker reported the input
	ended      bool // nothing more is billed: cutting off the answer saves nothing
}

// begin opens the bill of a request once it may be sent, in the order of arrival.
func (m *meter) begin(ctx context.Context, what costBound, cancel context.CancelCauseFunc) (*bill, error) {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b := &bill{order: what, cancel: cancel}
	b.most = m.most(b, what.output)
	for !m.admits(b) {
		if err := m.wait(ctx); err != nil {
			return nil, err
		}
	}
	if m.stopped != "" {
		return nil, errBudget
	}
	if m.open == nil {
		m.open = map[*bill]bool{}
	}
	m.open[b] = true
	return b, nil
}

// admits reports whether a request does not have to wait. A request that is too large for the rest ends the budget.
func (m *meter) admits(b *bill) bool {
	likely := m.price(b.order, price.Tokens{Input: b.order.likely})
	switch {
	case m.stopped != "" || m.fits(b.most):
		return true
	case len(m.open) > 0:
		return false
	case b.order.many || !m.fits(likely):
		m.stop(", and the next request is too large for the rest")
	}
	return true
}

func (m *meter) fits(more amount) bool {
	all := m.counted.plus(more)
	for b := range m.open {
		all = all.plus(b.most.beyond(b.counted))
	}
	return (m.budget.USD == 0 || all.usd <= m.budget.USD) && (m.budget.Tokens == 0 || all.tokens <= m.budget.Tokens)
}

// wait releases the lock until a bill has ended or shrunk.
func (m *meter) wait(ctx context.Context) error {
	if m.freed == nil {
		m.freed = make(chan struct{})
	}
	freed := m.freed
	m.mu.Unlock()
	defer m.mu.Lock()
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *meter) wake() {
	if m.freed != nil {
		close(m.freed)
		m.freed = nil
	}
}

// most returns the maximum cost of a request with this output. Without the maker's
// count of the input, it uses the length and the highest price of input.
func (m *meter) most(b *bill, output int64) amount {
	what, told := b.order, price.Tokens(b.used.Usage)
	if told.Output = output; b.used.inputKnown {
		return m.price(what, told)
	}
	plain := m.price(what, price.Tokens{Input: what.input, Output: output})
	cached := price.Tokens{CacheWrite: what.input, Output: output}
	if what.hour {
		cached.CacheHour = what.input
	}
	plain.usd = max(plain.usd, m.price(what, cached).usd)
	return plain
}

func (m *meter) price(what costBound, t price.Tokens) amount {
	usd, _ := price.Most(what.model, t, m.prices)
	return amount{usd, stream.Usage(t).Tokens()}
}

// bounds reports whether a model's cost has a known maximum. Otherwise no budget in dollars holds.
func (m *meter) bounds(model string) bool {
	_, known := price.Most(model, price.Tokens{}, m.prices)
	return known || m.budget.USD == 0
}

// set records the usage so far, and cuts off all requests when the budget is used.
func (m *meter) set(b *bill, now progress) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now == b.used {
		return
	}
	m.usage = m.usage.Plus(now.Usage).Minus(b.used.Usage)
	usd, known := price.Of(b.order.model, price.Tokens(now.Usage), m.prices)
	m.unknown = m.unknown || !known && now.Tokens() > 0
	m.usd += usd - b.usd
	b.used, b.usd = now, usd
	m.count(b, m.price(b.order, price.Tokens(now.Usage)))
	b.most = m.most(b, max(b.order.output, now.Output))
	m.wake()
}

// chargeMost charges the maximum that an unfinished answer can have used.
func (m *meter) chargeMost(b *bill, output int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(b, b.counted.plus(m.most(b, output).beyond(b.counted)))
}

func (m *meter) count(b *bill, now amount) {
	m.counted.usd += now.usd - b.counted.usd
	m.counted.tokens += now.tokens - b.counted.tokens
	b.counted = now
	if m.budget.USD > 0 && m.counted.usd >= m.budget.USD || m.budget.Tokens > 0 && m.counted.tokens >= m.budget.Tokens {
		m.stop("")
	}
}

// stop ends the budget for good: a lower estimate does not reopen it.
func (m *meter) stop(more string) {
	if m.stopped == "" {
		m.stopped = m.describeUse() + " used" + more
	}
	for b := range m.open {
		if !b.used.ended {
			b.stopped.Store(true)
			b.cancel(errBudget)
		}
	}
	m.wake()
}

func (m *meter) describeUse() string {
	var all []string
	if m.budget.USD > 0 {
		all = append(all, fmt.Sprintf("$%.2f of $%.2f", m.counted.usd, m.budget.USD))
	}
	if m.budget.Tokens > 0 {
		all = append(all, fmt.Sprintf("%d of %d tokens", m.counted.tokens, m.budget.Tokens))
	}
	return strings.Join(all, " and ")
}

func (m *meter) end(b *bill) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, b)
	m.wake()
}

// endAll cuts off all requests, and returns when their bills have ended.
func (m *meter) endAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for b := range m.open {
		b.cancel(errTurn)
	}
	for len(m.open) > 0 {
		_ = m.wait(context.Background())
	}
}

func (m *meter) sum() Spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	cost := stream.Cost{USD: max(m.usd, 0), Known: !m.unknown && m.usage != stream.Usage{}}
	return Spent{Usage: m.usage, Cost: cost, Charged: max(m.counted.usd, cost.USD), Stopped: m.stopped}
}

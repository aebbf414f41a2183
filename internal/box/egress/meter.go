package egress

import (
	"context"
	"errors"
	"sync"

	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/core/stream"
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
	Stopped bool // the budget is used: all requests are refused
}

var (
	errBudget = errors.New("the budget of this run is used")
	errTurn   = errors.New("no agent is at work")
)

// maxOpen is how many requests are in flight at most. So many can begin before the budget is used, and end after it.
const maxOpen = 4

// meter sums the use of all requests, open ones included. It lets no request begin once the budget is used.
type meter struct {
	budget Budget
	prices map[string]price.Rate
	places chan struct{} // one for each request in flight
	used   chan struct{} // closed when the budget is used

	mu      sync.Mutex
	usage   stream.Usage
	cost    stream.Cost
	unknown bool   // some use has no price
	other   Budget // used at other servers
	stopped bool
}

func newMeter(budget Budget, prices map[string]price.Rate) *meter {
	return &meter{
		budget: budget,
		prices: prices,
		places: make(chan struct{}, maxOpen),
		used:   make(chan struct{}),
	}
}

// bill is the use of one request.
type bill struct {
	model string
	usage stream.Usage
	cost  stream.Cost
}

// begin waits for a place. The caller calls end afterwards, if there is no error.
func (m *meter) begin(client, turn context.Context) error {
	select {
	case m.places <- struct{}{}:
	case <-m.used:
		return errBudget
	case <-turn.Done():
		return errTurn
	case <-client.Done():
		return client.Err()
	}
	if m.sum().Stopped {
		m.end()
		return errBudget
	}
	if turn.Err() != nil {
		m.end()
		return errTurn
	}
	return nil
}

func (m *meter) end() { <-m.places }

// bounds reports whether a model's cost has a known maximum. Otherwise no budget in dollars holds.
func (m *meter) bounds(model string) bool {
	_, known := price.Most(model, price.Tokens{}, m.prices)
	return known || m.budget.USD == 0
}

// set records what a request has used so far.
func (m *meter) set(b *bill, now stream.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now == b.usage {
		return
	}
	cost := m.price(b.model, now)
	m.usage = m.usage.Plus(now).Minus(b.usage)
	m.cost.USD += cost.USD - b.cost.USD
	m.cost.Most += cost.Most - b.cost.Most
	m.unknown = m.unknown || !cost.Known
	b.usage = now
	b.cost = cost
	m.check()
}

// price counts a model without a price as the most expensive one of its provider.
func (m *meter) price(model string, used stream.Usage) stream.Cost {
	usd, known := price.Of(model, price.Tokens(used), m.prices)
	if known {
		return stream.Cost{USD: usd, Known: true}
	}
	most, _ := price.Most(model, price.Tokens(used), m.prices)
	return stream.Cost{Most: most}
}

// charge adds what an agent used at another server.
func (m *meter) charge(usd float64, tokens int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.other.USD += usd
	m.other.Tokens += tokens
	m.check()
}

func (m *meter) check() {
	usd := m.cost.USD + m.cost.Most + m.other.USD
	tokens := m.usage.Tokens() + m.other.Tokens
	dollarsUsed := m.budget.USD > 0 && usd >= m.budget.USD
	tokensUsed := m.budget.Tokens > 0 && tokens >= m.budget.Tokens
	if (dollarsUsed || tokensUsed) && !m.stopped {
		m.stopped = true
		close(m.used)
	}
}

func (m *meter) sum() Spent {
	m.mu.Lock()
	defer m.mu.Unlock()
	cost := m.cost
	cost.Known = !m.unknown && m.usage != stream.Usage{}
	return Spent{Usage: m.usage, Cost: cost.Plausible(), Stopped: m.stopped}
}

package agent

import (
	"errors"

	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Budget is what an agent may use before it is ended; 0 is no end to it. An
// agent's program that has a limit of its own looks at it only after the answer
// that broke it, so it is metered here, by what the program says on its way.
type Budget struct {
	USD    float64
	Tokens int64
}

// errOverspent ends an agent that has used its budget.
var errOverspent = errors.New("the budget is used")

// exceeded holds a model without a price to that of its maker's dearest.
func (b Budget) exceeded(s stream.Spent) bool {
	usd := s.Cost.USD + s.Most
	return b.USD > 0 && usd >= b.USD || b.Tokens > 0 && s.Usage.Tokens() >= b.Tokens
}

// pricing is what tokens cost where an agent's program does not say, or does
// not say yet: the user's own rates by model, before the list's.
type pricing map[string]price.Rate

func (p pricing) of(model string, u stream.Usage) stream.Cost {
	usd, known := price.Of(model, price.Tokens(u), p)
	return stream.Cost{USD: usd, Known: known}
}

// spent is what so much usage of a model comes to.
func (p pricing) spent(model string, u stream.Usage) stream.Spent {
	spent := stream.Spent{Usage: u, Cost: p.of(model, u)}
	if !spent.Cost.Known {
		spent.Most, _ = price.Most(model, price.Tokens(u), p)
	}
	return spent
}

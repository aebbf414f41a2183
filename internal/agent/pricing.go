package agent

import (
	"github.com/ralph-loop/ralph/internal/price"
	"github.com/ralph-loop/ralph/internal/stream"
)

// pricing is what tokens cost where an agent's program does not say, or does
// not say yet: the user's own rates by model, before the list's.
type pricing map[string]price.Rate

func (p pricing) of(model string, u stream.Usage) stream.Cost {
	usd, known := price.Of(model, price.Tokens(u), p)
	return stream.Cost{USD: usd, Known: known}
}

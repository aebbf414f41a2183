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

// Reports is when an agent's program reports what it used.
type Reports int

// What is not reported after each answer ends no agent within a turn.
const (
	ReportsNothing Reports = iota // or not all of it
	ReportsAtEnd
	ReportsTokens // after each answer
	ReportsCost   // likewise, in tokens of models that have prices
)

// Unheld is how a budget fails to hold an agent by what its program reports, and
// what would help; empty where it ends the agent within a turn.
func (a Adapter) Unheld(b Budget) (why, hint string) {
	hint = "limit the time of a turn with iteration-timeout"
	if key := keysCounted[a.Name]; key != "" {
		hint = "give it a key of its own (" + key + "), by which ralph counts, or " + hint
	}
	switch {
	case b == Budget{}, a.Reports == ReportsCost, a.Reports == ReportsTokens && b.USD == 0:
		return "", ""
	case a.Reports == ReportsAtEnd:
		return "cannot end " + a.Name + " within a turn: it reports its usage only at the end", hint
	case a.Reports == ReportsTokens:
		return "does not hold for " + a.Name + ": it reports no cost", hint
	}
	return "does not hold for " + a.Name + ": it does not report its usage", hint
}

// keysCounted are the keys with which agents that report too little can be sent
// to ralph's model server.
var keysCounted = map[string]string{"gemini": "GEMINI_API_KEY", "copilot": "COPILOT_PROVIDER_API_KEY"}

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
		spent.Most, _ = price.Most("", model, price.Tokens(u), p)
	}
	return spent
}

package agent

import (
	"errors"

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

func (b Budget) exceeded(s stream.Spent) bool {
	return b.USD > 0 && s.Cost.Known && s.Cost.USD >= b.USD || b.Tokens > 0 && s.Usage.Tokens() >= b.Tokens
}

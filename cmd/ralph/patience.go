package main

import (
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/policy"
)

// patience is how long the step under way may take at most, in words for those
// who asked it to end. Signals are told of it while the run sets it.
type patience struct{ words atomic.Value }

// set reckons it from the limits of a run: an agent's turn is one step, and so
// are all checks together.
func (p *patience) set(rules policy.Policy) {
	var checks policy.Duration
	for _, check := range rules.Checks {
		checks += check.Timeout
	}
	turn := rules.Limits.Iteration
	if whole := rules.Limits.Run; turn == 0 || whole > 0 && whole < turn {
		turn = whole
	}
	if turn == 0 {
		p.words.Store("however long its agent takes")
		return
	}
	p.words.Store("in at most " + max(turn, checks).String())
}

// String is what there is to say of it.
func (p *patience) String() string {
	if words, told := p.words.Load().(string); told {
		return words
	}
	return "in a moment" // there is no agent yet
}

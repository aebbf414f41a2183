package main

import (
	"sync/atomic"

	"github.com/ralph-loop/ralph/internal/policy"
)

// patience is how long the step under way may take at most, in words for those
// who asked it to end. Signals are told of it while the run sets it.
type patience struct{ words atomic.Value }

// set takes it from the rules of a run.
func (p *patience) set(rules policy.Policy) {
	most := rules.LongestStep()
	if most == 0 {
		p.words.Store("however long its agent takes")
		return
	}
	p.words.Store("in at most " + most.String())
}

// String is what there is to say of it.
func (p *patience) String() string {
	if words, told := p.words.Load().(string); told {
		return words
	}
	return "in a moment" // there is no agent yet
}

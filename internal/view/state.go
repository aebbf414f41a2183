package view

import (
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// State is how a run stands in one word, by which people filter.
type State string

// Running is at work; NeedsInput waits for people's word, Review for their eyes;
// Stopped stopped short. A run that left nothing to look at has none.
const (
	Running    State = "running"
	NeedsInput State = "needs-input"
	Review     State = "review"
	Stopped    State = "stopped"
)

// States are all of them.
func States() []State { return []State{Running, NeedsInput, Review, Stopped} }

func stateOf(run journal.Run) State {
	switch {
	case run.Stop == nil:
		return Running
	case run.Stop.Reason == policy.NeedsInput:
		return NeedsInput
	case !run.Completed():
		return Stopped
	case run.Pull != nil:
		return Review
	}
	return ""
}

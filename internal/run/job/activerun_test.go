package job_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// A tree stays if commits of its newest iteration were not taken, or were refused.
func TestIsWorkUntaken(t *testing.T) {
	agent, taken, ended := &journal.AgentEnded{}, &journal.CommitsTaken{}, &journal.IterationEnded{}
	refused := &journal.CommitsTaken{Refused: []journal.Finding{{Why: "a workflow"}}}
	for name, test := range map[string]struct {
		iterations []journal.Iteration
		want       bool
	}{
		"no iteration":               {nil, false},
		"killed before its agent":    {[]journal.Iteration{{}}, true},
		"the agent has ended":        {[]journal.Iteration{{Agent: agent}}, true},
		"ended without its commits":  {[]journal.Iteration{{Agent: agent, Ended: ended}}, true},
		"ended without an agent":     {[]journal.Iteration{{Ended: ended}}, false},
		"its commits are taken":      {[]journal.Iteration{{Agent: agent, Taken: taken}}, false},
		"its commits are refused":    {[]journal.Iteration{{Agent: agent, Taken: refused, Ended: ended}}, true},
		"an earlier one was refused": {[]journal.Iteration{{Taken: refused, Ended: ended}, {Taken: taken}}, false},
	} {
		if got := job.IsWorkUntaken(journal.Run{Iterations: test.iterations}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

package policy_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/policy"
)

func TestLinked(t *testing.T) {
	for name, test := range map[string]struct {
		p    policy.Policy
		want bool
	}{
		"a prompt in a worktree": {policy.Policy{SeparateTree: true, Done: policy.ByResponse}, true},
		"a task in a worktree":   {policy.Policy{SeparateTree: true, Done: policy.ByTag}, true},
		"stories on a branch":    {policy.Policy{SeparateTree: true, Done: policy.ByStories}, false},
		"the user's own tree":    {policy.Policy{Done: policy.ByResponse}, false},
	} {
		if got := test.p.UsesLinkedWorktree(); got != test.want {
			t.Errorf("%s: Linked = %v, want %v", name, got, test.want)
		}
	}
}

func TestLongestStep(t *testing.T) {
	checks := []policy.Check{{Timeout: 40}, {Timeout: 30}}
	for name, test := range map[string]struct {
		limits policy.Limits
		checks []policy.Check
		want   policy.Duration
	}{
		"an agent's turn":            {policy.Limits{Iteration: 60, Run: 100}, nil, 60},
		"what is left of the run":    {policy.Limits{Iteration: 60, Run: 50}, nil, 50},
		"the run, without the other": {policy.Limits{Run: 50}, nil, 50},
		"no time for the run":        {policy.Limits{Iteration: 60}, nil, 60},
		"all checks together":        {policy.Limits{Iteration: 60, Run: 100}, checks, 70},
		"checks, in no time":         {policy.Limits{Iteration: 90}, checks, 90},
		"without end":                {policy.Limits{}, checks, 0},
	} {
		if got := (policy.Policy{Limits: test.limits, Checks: test.checks}).LongestStep(); got != test.want {
			t.Errorf("%s: LongestStep = %d, want %d", name, got, test.want)
		}
	}
}

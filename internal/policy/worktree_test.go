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

package plan_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/plan"
)

func TestShares(t *testing.T) {
	of := func(stories ...plan.Story) plan.Plan { return plan.Plan{UserStories: stories} }
	cart, login := plan.Story{ID: "US-001", Title: "A cart"}, plan.Story{ID: "US-001", Title: "A login"}
	more := plan.Story{ID: "US-002", Title: "Sizes"}
	for name, test := range map[string]struct {
		a, b plan.Plan
		want bool
	}{
		"the same":                {of(cart), of(cart), true},
		"one was split off":       {of(more), of(cart, more), true},
		"the ids of another plan": {of(cart), of(login), false},
		"nothing in common":       {of(cart), of(more), false},
	} {
		if got := test.a.SharesStory(test.b); got != test.want {
			t.Errorf("%s: Shares = %v, want %v", name, got, test.want)
		}
	}
}

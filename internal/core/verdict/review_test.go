package verdict_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Each commit needs its own review, if the policy names a reviewer. What a review misses blocks its commit only.
func TestReviews(t *testing.T) {
	missed := []journal.Missed{
		{Criterion: 1, Why: "it adds nothing", File: "cart.go", Line: 3}, {Criterion: 2, Why: "it is not shown", File: "page.go", Line: 9},
	}
	for _, by := range []string{"", "codex"} {
		run := fold(
			journal.RunBegan{Policy: policy.Policy{Review: policy.Review{Agent: by}}},
			journal.StoryReviewed{Story: "US-001", Commit: "c1", By: "codex", Missed: []journal.Missed{{Criterion: 1, Why: "it does not"}}},
			journal.StoryReviewed{Story: "US-001", Commit: "c2", By: "codex"},
			journal.StoryReviewed{Story: "US-002", Commit: "c2", By: "codex", Missed: missed},
		)
		for _, test := range []struct {
			story, commit string
			reviewed      bool
			objections    string
		}{
			{"US-001", "c1", false, ""}, // of an earlier commit
			{"US-001", "c2", true, ""},
			{"US-002", "c2", true, "a second opinion, by codex: criterion 1: it adds nothing (cart.go:3), criterion 2: it is not shown (page.go:9)"},
			{"US-002", "c3", false, ""},
			{"US-003", "", false, ""},
		} {
			if got, want := verdict.NeedsReview(run, test.story, test.commit), by != "" && !test.reviewed; got != want {
				t.Errorf("%q: NeedsReview(%s, %s) = %v, want %v", by, test.story, test.commit, got, want)
			}
			if got := verdict.Objections(run, test.story, test.commit); got != test.objections {
				t.Errorf("Objections(%s, %s) = %q, want %q", test.story, test.commit, got, test.objections)
			}
		}
	}
}

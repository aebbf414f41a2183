package verdict_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// reviewedRun returns a run with opinions of two commits of US-001, and an objection to US-002.
func reviewedRun(by string) journal.Run {
	return fold(
		journal.RunBegan{Policy: policy.Policy{Review: policy.Review{Agent: by}}},
		journal.AgentEnded{Usage: stream.Usage{Input: 1}, Cost: stream.Cost{USD: 0.25, Known: true}},
		journal.StoryReviewed{Story: "US-001", Commit: "c1", By: "codex", Missed: []journal.Missed{{Criterion: 1, Why: "it does not"}}, Consultation: journal.Consultation{Usage: stream.Usage{Input: 2}, Cost: stream.Cost{USD: 0.5, Known: true}}},
		journal.StoryReviewed{Story: "US-001", Commit: "c2", By: "codex", Looked: 2, Consultation: journal.Consultation{Cost: stream.Cost{USD: 0.25, Known: true}}},
		journal.StoryReviewed{Story: "US-002", Commit: "c2", By: "codex", Missed: []journal.Missed{
			{Criterion: 1, Why: "it adds nothing", File: "cart.go", Line: 3}, {Criterion: 2, Why: "it is not shown", File: "page.go", Line: 9},
		}, Consultation: journal.Consultation{Cost: stream.Cost{USD: 0, Known: true}}},
	)
}

// The cost of a run includes its reviews.
func TestReviewsCost(t *testing.T) {
	run := reviewedRun("codex")
	if run.Spent.CostUSD != 1 || !run.Spent.CostKnown || run.Spent.Usage.Input != 3 {
		t.Errorf("cost %v, known %v, usage %+v", run.Spent.CostUSD, run.Spent.CostKnown, run.Spent.Usage)
	}
	run = fold(journal.RunBegan{}, journal.StoryReviewed{Consultation: journal.Consultation{Cost: stream.Cost{USD: 1}}}, journal.StoryReviewed{Consultation: journal.Consultation{Cost: stream.Cost{USD: 1, Known: true}}})
	if run.Spent.CostUSD != 2 || run.Spent.CostKnown {
		t.Errorf("cost %v, known %v, want an unknown one", run.Spent.CostUSD, run.Spent.CostKnown)
	}
}

// Each commit needs its own review, if the policy names a reviewer.
func TestNeedsReview(t *testing.T) {
	for _, by := range []string{"", "codex"} {
		run := reviewedRun(by)
		for _, test := range []struct {
			story, commit string
			there         bool
		}{
			{"US-001", "c2", true},
			{"US-001", "c1", false},
			{"US-002", "c2", true},
			{"US-002", "c1", false},
			{"US-003", "", false},
		} {
			if got, want := verdict.NeedsReview(run, test.story, test.commit), by != "" && !test.there; got != want {
				t.Errorf("%q: NeedsReview(%s, %s) = %v, want %v", by, test.story, test.commit, got, want)
			}
		}
	}
	if got, found := reviewedRun("codex").ReviewOf("US-003"); found || got.By != "" {
		t.Errorf("ReviewOf = %+v, %v, want none", got, found)
	}
}

func TestObjections(t *testing.T) {
	run := reviewedRun("codex")
	for _, test := range []struct{ story, commit, want string }{
		{"US-001", "c2", ""},
		{"US-001", "c1", ""}, // of an earlier commit
		{"US-002", "c2", "a second opinion, by codex: criterion 1: it adds nothing (cart.go:3), criterion 2: it is not shown (page.go:9)"},
		{"US-002", "c3", ""},
		{"US-003", "", ""},
	} {
		if got := verdict.Objections(run, test.story, test.commit); got != test.want {
			t.Errorf("Objections(%s, %s) = %q, want %q", test.story, test.commit, got, test.want)
		}
	}
}

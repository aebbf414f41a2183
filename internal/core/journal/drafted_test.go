package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Commits that change nothing but the loop's own files touch nothing, as far as
// the proofs of all their stories say so.
func TestUnchanged(t *testing.T) {
	begun := journal.RunBegan{Run: "r", Base: "b0", Start: "b0", Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}}
	first, second := journal.IterationBegan{Number: 1, Story: "US-001"}, journal.IterationBegan{Number: 2, Story: "US-001"}
	books := journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1"}
	idle := journal.ProofEnded{Story: "US-001", Idle: true}
	for name, c := range map[string]struct {
		events []journal.Event
		want   bool
	}{
		"at first":          {[]journal.Event{begun}, true},
		"a branch that was": {[]journal.Event{journal.RunBegan{Run: "r", Base: "b0", Start: "c9"}}, false},
		"books":             {[]journal.Event{begun, first, books, idle}, true},
		"proven by a change": {
			[]journal.Event{begun, first, books, journal.ProofEnded{Story: "US-001"}}, false,
		},
		"books, then more that is not proven": {
			[]journal.Event{begun, first, books, idle, journal.IterationEnded{Number: 1}, second, journal.CommitsTaken{From: "c1", To: "c2"}}, false,
		},
		"work, then more of it is asked for, and nothing changes": {
			[]journal.Event{begun, first, books, journal.IterationEnded{Number: 1}, journal.Resumed{Retry: []string{"US-001"}, Words: "more"}, second, journal.CommitsTaken{From: "c1", To: "c2"}, idle}, false,
		},
		"books twice": {
			[]journal.Event{begun, first, books, journal.IterationEnded{Number: 1}, second, journal.CommitsTaken{From: "c1", To: "c2"}, idle}, true,
		},
	} {
		if got := verdict.IsUnchanged(minutely(c.events...)); got != c.want {
			t.Errorf("%s: unchanged %v, want %v", name, got, c.want)
		}
	}
}

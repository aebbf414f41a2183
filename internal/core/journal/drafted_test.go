package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// A plan is made once: its result is on record, no matter what happens to the run.
func TestUnplanned(t *testing.T) {
	begun := journal.RunBegan{Run: "r", Vague: true, Policy: policy.Policy{Approval: true}}
	made := journal.PlanDrafted{By: "a", Stories: []plan.Story{{ID: "US-007"}}}
	asks, fails := journal.PlanDrafted{By: "a", Question: "Which?"}, journal.PlanDrafted{By: "a", Why: "no JSON"}
	for name, c := range map[string]struct {
		events     []journal.Event
		unplanned  bool
		unapproved bool
	}{
		"said well":    {[]journal.Event{journal.RunBegan{Run: "r", Policy: begun.Policy}}, false, true},
		"at first":     {[]journal.Event{begun}, true, false},
		"made":         {[]journal.Event{begun, made}, false, true},
		"approved":     {[]journal.Event{begun, made, journal.Resumed{Approved: "ada"}}, false, false},
		"asked":        {[]journal.Event{begun, asks}, false, false},
		"answered":     {[]journal.Event{begun, asks, journal.Resumed{Words: "this"}}, true, false},
		"failed":       {[]journal.Event{begun, fails}, true, false},
		"failed twice": {[]journal.Event{begun, fails, fails}, false, true},
		"worked on":    {[]journal.Event{begun, fails, journal.IterationBegan{Number: 1}}, false, true},
	} {
		run := minutely(c.events...)
		if verdict.NeedsPlan(run) != c.unplanned || verdict.NeedsApproval(run) != c.unapproved {
			t.Errorf("%s: Unplanned %v, Unapproved %v; want %v, %v", name, verdict.NeedsPlan(run), verdict.NeedsApproval(run), c.unplanned, c.unapproved)
		}
	}
	run := minutely(begun, made)
	if len(run.Plan.UserStories) != 1 || run.Plan.UserStories[0].ID != "US-007" {
		t.Errorf("the plan is %+v, want the agent's", run.Plan)
	}
}

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

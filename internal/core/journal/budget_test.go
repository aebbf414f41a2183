package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// A budget is used when there is one, and nothing is left of it.
func TestBroke(t *testing.T) {
	for _, test := range []struct {
		limit, spent float64
		tokens, used int64
		want         bool
	}{
		{want: false},
		{spent: 5, used: 5, want: false},
		{limit: 1, spent: 0.99, want: false},
		{limit: 1, spent: 1, want: true},
		{limit: 1, spent: 2, want: true},
		{tokens: 10, used: 9, want: false},
		{tokens: 10, used: 10, want: true},
		{limit: 1, tokens: 10, used: 11, want: true},
	} {
		run := journal.Run{Spent: journal.Spent{CostUSD: test.spent, Usage: stream.Usage{Input: test.used}}}
		run.Policy = policy.Policy{Limits: policy.Limits{CostUSD: test.limit, Tokens: test.tokens}}
		if got := verdict.IsBudgetSpent(run); got != test.want {
			t.Errorf("Broke(%+v) = %v", test, got)
		}
	}
}

// A commit message is paid for like any other answer, and its cost may be unknown.
func TestACommitMessageIsPaidFor(t *testing.T) {
	run := journal.Run{Spent: journal.Spent{CostKnown: true}}
	for _, test := range []struct {
		scm   journal.SCMEnded
		usd   float64
		known bool
	}{
		{journal.SCMEnded{Task: "push"}, 0, true},
		{journal.SCMEnded{Task: "commit", CostUSD: 0.5, Usage: stream.Usage{Input: 7}}, 0.5, true},
		{journal.SCMEnded{Task: "commit", Unpriced: true, Usage: stream.Usage{Output: 3}}, 0.5, false},
	} {
		run = journal.Fold(run, journal.Entry{Event: test.scm})
		if run.Spent.CostUSD != test.usd || run.Spent.CostKnown != test.known {
			t.Errorf("after %+v: $%v, known %v", test.scm, run.Spent.CostUSD, run.Spent.CostKnown)
		}
	}
	if got := run.Spent.Usage.Tokens(); got != 10 {
		t.Errorf("%d tokens, want 10", got)
	}
}

// What has no price is spent as well, and a budget that the model server has ended is used, until limits are granted anew.
func TestBudgetOfTheModelServer(t *testing.T) {
	events := []journal.Event{
		began(),
		journal.IterationBegan{Number: 1},
		journal.AgentEnded{Failed: true, Overspent: true, Why: "all used", Cost: cost(1)},
	}
	run := minutely(events...)
	if run.SpentUSD() != 1 || run.Spent.CostUSD != 1 || run.Spent.Overspent != "all used" || !verdict.IsBudgetSpent(run) {
		t.Errorf("spent %v, cost %v, overspent %q, broke %v", run.SpentUSD(), run.Spent.CostUSD, run.Spent.Overspent, verdict.IsBudgetSpent(run))
	}
	bounds := stream.Cost{Most: 0.25}
	events = append(events, journal.AgentEnded{Cost: bounds}, journal.PlanDrafted{Consultation: journal.Consultation{Cost: bounds}}, journal.StoryReviewed{Consultation: journal.Consultation{Cost: bounds}}, journal.SCMEnded{MostUSD: 0.25, Unpriced: true})
	if run = minutely(events...); run.SpentUSD() != 2 || run.Spent.CostUSD != 2 || run.Spent.CostKnown {
		t.Errorf("with what has no price: spent %v, cost %v, known %v", run.SpentUSD(), run.Spent.CostUSD, run.Spent.CostKnown)
	}
	run = minutely(append(events, journal.Resumed{Why: "asked"})...)
	if run.SpentUSD() != 0 || run.Spent.CostUSD != 2 || run.Spent.Overspent != "" || verdict.IsBudgetSpent(run) {
		t.Errorf("resumed: spent %v of %v, overspent %q, broke %v", run.SpentUSD(), run.Spent.CostUSD, run.Spent.Overspent, verdict.IsBudgetSpent(run))
	}
	unplanned := minutely(began(), journal.PlanDrafted{Consultation: journal.Consultation{Overspent: true}, Why: "all used"})
	if unplanned.Spent.Overspent != "all used" || len(unplanned.Planning.Misplans) > 0 {
		t.Errorf("at a plan: overspent %q, %d of no use", unplanned.Spent.Overspent, len(unplanned.Planning.Misplans))
	}
	quiet := minutely(began(), journal.IterationBegan{Number: 1}, journal.AgentEnded{Overspent: true})
	if quiet.Spent.Overspent == "" {
		t.Error("an agent that ended well left no reason")
	}
}

package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// A run pays for its agents, plans, reviews and commit messages. Its cost is known if each of these is.
func TestWhatARunSpends(t *testing.T) {
	known, bound := journal.Consultation{Cost: cost(0.25)}, journal.Consultation{Cost: stream.Cost{Most: 0.25}}
	for _, c := range []struct {
		event journal.Event
		usd   float64
		known bool
	}{
		{journal.AgentEnded{Cost: cost(0.25)}, 0.25, true},
		{journal.AgentEnded{Cost: bound.Cost}, 0.25, false},
		{journal.AgentEnded{}, 0, false},
		{journal.PlanDrafted{Why: "no", Consultation: known}, 0.25, true},
		{journal.PlanDrafted{Why: "no", Consultation: bound}, 0.25, false},
		{journal.StoryReviewed{Consultation: known}, 0.25, true},
		{journal.StoryReviewed{Consultation: bound}, 0.25, false},
		{journal.SCMEnded{Task: "push"}, 0, true},
		{journal.SCMEnded{Task: "commit", CostUSD: 0.25}, 0.25, true},
		{journal.SCMEnded{Task: "commit", MostUSD: 0.25, Unpriced: true}, 0.25, false},
	} {
		run := minutely(began(), journal.AgentEnded{Cost: cost(1)}, c.event)
		if run.Spent.CostUSD != 1+c.usd || run.SpentUSD() != 1+c.usd || run.Spent.CostKnown != c.known {
			t.Errorf("after %+v: $%v, known %v", c.event, run.Spent.CostUSD, run.Spent.CostKnown)
		}
	}
}

// A budget that the model server has ended is used, until limits are granted again.
func TestBudgetOfTheModelServer(t *testing.T) {
	for why, event := range map[string]journal.Event{
		"all used":           journal.AgentEnded{Failed: true, Overspent: true, Why: "all used"},
		"the budget is used": journal.AgentEnded{Overspent: true},
		"no plan":            journal.PlanDrafted{Consultation: journal.Consultation{Overspent: true}, Why: "no plan"},
	} {
		run := minutely(began(), journal.IterationBegan{Number: 1}, event)
		if run.Spent.Overspent != why || !verdict.IsBudgetSpent(run) || len(run.Planning.Misplans) > 0 {
			t.Errorf("overspent %q, %d misplans; want %q", run.Spent.Overspent, len(run.Planning.Misplans), why)
		}
		run = journal.Fold(run, journal.Entry{At: noon, Event: journal.Resumed{Why: "asked"}})
		if run.Spent.Overspent != "" || verdict.IsBudgetSpent(run) {
			t.Errorf("%s: resumed, and overspent %q", why, run.Spent.Overspent)
		}
	}
}

package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// runWithProof returns a run with one result of its check at the base, and another on a
// clean checkout of the newest commit.
func runWithProof(base, now journal.CheckEnded) journal.Run {
	base.Name, base.Command, now.Name, now.Command = "test", "make test", "test", "make test"
	base.Where, now.Where = journal.AtBase, journal.AtHead
	return journal.Run{
		Tree: "t1", Start: "b0", Head: "c1",
		Policy:     policy.Policy{Checks: []policy.Check{{Name: "test"}}, Baseline: policy.BaselineNew},
		BaseChecks: []journal.CheckEnded{base},
		Baseline:   &journal.BaselineEnded{Usable: true},
		Proofs:     []journal.Proof{{Commit: "c1", Tree: "t1", Checks: journal.Runs{Head: []journal.CheckEnded{now}}, Rules: journal.Rules{Checks: []policy.Check{{Name: "test"}}}}},
	}
}

// The meaning of a check in a proof depends on its result at the base. Pull request and
// log agree about it.
func TestWhatAChecksWordIsWorth(t *testing.T) {
	red := func(names ...string) journal.CheckEnded {
		return journal.CheckEnded{Exit: 1, Tests: &journal.Tests{Passed: 1, Failed: len(names), Red: names}}
	}
	green := journal.CheckEnded{Passed: true}
	for name, test := range map[string]struct {
		base, now  journal.CheckEnded
		cell, line string
	}{
		"green, and was":           {green, green, "✅ passed", "check test passed on a clean checkout, 0s"},
		"green, and was red":       {red("a"), green, "✅ passed, failed before the work", "check test passed on a clean checkout, 0s"},
		"green, and could not run": {journal.CheckEnded{CannotRun: true}, green, "✅ passed, failed before the work", "check test passed on a clean checkout, 0s"},
		"red, and was green": {
			green, red("a"), "❌ failed", "check test failed (exit 1) on a clean checkout, 0s: 1 passed, 1 failed",
		},
		"red with something new": {
			red("a"), red("a", "b", "c", "d", "e", "f", "g"), "❌ failed, new: `b`, `c`, `d`, `e`, `f` and 1 more",
			"check test failed (exit 1) on a clean checkout, 0s: 1 passed, 7 failed, new: b, c, d, e, f and 1 more",
		},
		"red in other ways": {
			red("a"),
			journal.CheckEnded{Exit: 1, TimedOut: true, Tests: &journal.Tests{}},
			"❌ failed",
			"check test ran out of time on a clean checkout, 0s: 0 passed, 0 failed",
		},
		"red with what was red": {
			red("a"), red("a"), "➖ failed before the work, too", "check test failed (exit 1) on a clean checkout, 0s: 1 passed, 1 failed, nothing new",
		},
		"flaky": {
			green,
			journal.CheckEnded{Passed: true, Flaky: true, First: &journal.Try{Exit: 3}},
			"❗ flaky: failed, and had no such failure when run again",
			"check test passed on a clean checkout, 0s, flaky: it failed first",
		},
		"red twice": {
			green, journal.CheckEnded{Exit: 1, First: &journal.Try{Exit: 1}}, "❌ failed", "check test failed (exit 1) on a clean checkout, 0s, twice",
		},
	} {
		run := runWithProof(test.base, test.now)
		if body := view.Of(run).Pull.Body; !strings.Contains(body, "| `make test` | "+test.cell+" | ") {
			t.Errorf("%s: no cell %q in\n%s", name, test.cell, body)
		}
		if line := view.Line(run, run.Proofs[0].Checks.Head[0]); line != "  "+test.line {
			t.Errorf("%s: line %q, want %q", name, line, test.line)
		}
	}
}

// The history for the next iteration has a fixed format: prompts depend on it.
func TestProgress(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	run := journal.Run{Iterations: []journal.Iteration{
		{
			Number: 1, Began: at, Last: at.Add(90 * time.Second),
			Agent:  &journal.AgentEnded{Tools: 3, Cost: stream.Cost{USD: 0.12345, Known: true}},
			Checks: []journal.CheckEnded{{Command: "make test", Passed: true, Excerpt: "fine"}},
			Ended:  &journal.IterationEnded{Green: true, Rejected: []journal.Rejection{{Claim: "DONE", Why: "no work was done"}}},
		},
		{
			Number: 2, Began: at, Last: at.Add(time.Second), Agent: &journal.AgentEnded{},
			Checks: []journal.CheckEnded{
				{Command: "make test", Excerpt: "one\n two \n\n"}, {Command: "make lint"}, {Command: "make slow", TimedOut: true, Excerpt: "half"},
			},
			Ended: &journal.IterationEnded{},
		},
		{Number: 3, Began: at, Last: at, Ended: &journal.IterationEnded{}},
		{Number: 4, Began: at, Last: at, Ended: &journal.IterationEnded{Green: true}},
		{Number: 5, Began: at, Last: at},
	}}
	want := "## Iteration 1 — PASS\n- Steps: 3\n- Cost: $0.1235\n- Duration: 1m30s\n- Checks:\n  - make test: PASS\n- Rejected: DONE: no work was done\n\n" +
		"## Iteration 2 — FAIL\n- Steps: 0\n- Cost: unknown\n- Duration: 1s\n- Checks:\n  - make test: FAIL — two\n  - make lint: FAIL\n  - make slow: FAIL — Timeout\n\n" +
		"## Iteration 3 — FAIL\n- Duration: 0s\n\n## Iteration 4 — NO CHECKS\n- Duration: 0s\n\n"
	if diff := cmp.Diff(want, view.Progress(run)); diff != "" {
		t.Errorf("Progress (-want +got):\n%s", diff)
	}
}

// ralph status shows passed stories with the result of their proof, the active story, problems, and the
// next step.
func TestTextOfStories(t *testing.T) {
	run := journal.Run{
		ID: "run-1", Spent: journal.Spent{CostUSD: 1, CostKnown: true},
		Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", Title: "A cart", Passes: true}, {ID: "US-002", Title: "An order"}, {ID: "US-003", Title: "A bill"}}},
		Iterations: []journal.Iteration{
			{Number: 1, Story: "US-001", Ended: &journal.IterationEnded{Rejected: []journal.Rejection{{Claim: "US-003", Why: "one story at a time"}}}},
			{Number: 2, Story: "US-002"},
		},
		Proofs: []journal.Proof{{Story: "US-001", Passed: true, Result: journal.Proven}},
	}
	want := "run-1: iteration 2, agent at work on US-002\n[x] US-001 A cart: Proven\n[>] US-002 An order\n[ ] US-003 A bill\n" +
		"2 iterations in 0s, cost $1.00\n! rejected: US-003: one story at a time\n"
	if diff := cmp.Diff(want, view.Text(run, false)); diff != "" {
		t.Errorf("Text (-want +got):\n%s", diff)
	}
	run.Stop = &journal.RunStopped{Reason: policy.MaxIterations}
	if text := view.Text(run, false); !strings.HasSuffix(text, "next: continue with `ralph resume`; `--max-iterations` sets a higher limit\n") || strings.Contains(text, "[>]") {
		t.Errorf("Text = %q, want what to do now, and nothing under way", text)
	}
}

// A criterion that the agent added is marked.
func TestAnAgentsOwnCriterionIsTold(t *testing.T) {
	run := runWithProof(journal.CheckEnded{Passed: true}, journal.CheckEnded{Passed: true})
	run.Plan.UserStories = []plan.Story{{ID: "US-001", Title: "A", AcceptanceCriteria: []string{"ten cost 20", "or anything else"}}}
	run.Planning.Added = []string{"or anything else"}
	body := view.Of(run).Pull.Body
	if want := "A<br>• ten cost 20<br>• added by the agent: or anything else |"; !strings.Contains(body, want) {
		t.Errorf("the pull request does not say %q:\n%s", want, body)
	}
}

package view_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

var savedCommit = view.Archive{
	Name: "login",
	Date: "2026-01-31",
	Plan: plan.Plan{BranchName: "ralph/login", Description: "People log in.", UserStories: []plan.Story{
		{ID: "US-001", Title: "A form | a page", Passes: true, Notes: "Built.\nWith tests."},
		{ID: "US-002", Title: "Log out"},
	}},
}

// The newest run provides the cost and the end.
func TestSummaryOfARun(t *testing.T) {
	began := time.Date(2026, 1, 30, 9, 0, 0, 0, time.UTC)
	run := journal.Run{
		ID: "run-1", Clock: journal.Clock{Began: began, Now: began.Add(90 * time.Second)}, Spent: journal.Spent{CostUSD: 1.5, CostKnown: true},
		Iterations: []journal.Iteration{{Number: 1, Story: "US-001"}, {Number: 2, Story: "US-002"}},
		Stop:       &journal.RunStopped{Reason: policy.MaxIterations},
	}
	loop := savedCommit
	loop.Started, loop.Run = "2026-01-29", &run
	got := loop.Summary()
	want := `# login: 1 of 2 stories completed

People log in.

- Branch: ` + "`ralph/login`" + `
- Started: 2026-01-29
- Archived: 2026-01-31
- Newest run: ` + "`run-1`" + `, stopped, out of iterations
- It took 2 iterations and 1m30s, $1.50

| story | title | completed | iterations | cost | notes |
|---|---|---|---|---|---|
| US-001 | A form \| a page | yes | 1 | $0.00 | Built. With tests. |
| US-002 | Log out | no | 1 | $0.00 |  |
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Summary (-want +got):\n%s", diff)
	}
}

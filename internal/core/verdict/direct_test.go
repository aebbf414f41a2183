package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// A claim with all work committed is checked only on a clean checkout. Work that
// is uncommitted, rejected or not claimed is checked in the agent's tree.
func TestCommittedClaimsAreCheckedOnce(t *testing.T) {
	fine, broken := journal.AgentEnded{Tools: 1}, journal.AgentEnded{Tools: 1, Failed: true}
	read := func(committed bool, claimed ...string) journal.PlanRead {
		stories := []plan.Story{{ID: "US-001"}, {ID: "US-002"}}
		return journal.PlanRead{Plan: plan.Plan{UserStories: stories}, Claimed: claimed, Committed: committed}
	}
	bent := read(true, "US-001")
	bent.Bent = []string{"US-001"}
	taken := journal.CommitsTaken{From: "b0", To: "c1", Tree: "tree-c1", Work: "tree-c1"}
	refused := journal.CommitsTaken{From: "b0", To: "b0", Work: "w", Refused: []journal.Finding{{Why: "a secret"}}}
	red := []journal.Event{
		journal.CheckEnded{Where: journal.AtHead, Name: "test", Exit: 1},
		journal.ProofEnded{Story: "US-001", Commit: "c1", Tree: "tree-c1", Result: journal.Failed, Why: "test failed (exit 1)"},
	}
	judged := func(why string) verdict.Step {
		return verdict.Judge{Verdict: journal.IterationEnded{
			Number: 1, Story: "US-001", Worked: true, Rejected: []journal.Rejection{{Claim: "US-001", Why: "on a clean checkout: " + why}},
		}}
	}
	for name, test := range map[string]struct {
		events []journal.Event
		want   verdict.Step
	}{
		"it is handed over":         {[]journal.Event{fine, read(true, "US-001")}, verdict.TakeCommits{}},
		"and proven":                {[]journal.Event{fine, read(true, "US-001"), taken}, verdict.Prove{Story: "US-001", Commit: "c1", Tree: "tree-c1"}},
		"and red there":             {append([]journal.Event{fine, read(true, "US-001"), taken}, red...), judged("test failed (exit 1)")},
		"another story is claimed":  {[]journal.Event{fine, read(true, "US-002")}, verdict.Check{}},
		"some of it is uncommitted": {[]journal.Event{fine, read(false, "US-001")}, verdict.Check{}},
		"it asks for less":          {[]journal.Event{fine, bent}, verdict.Check{}},
		"the agent failed":          {[]journal.Event{broken, read(true, "US-001")}, verdict.Check{}},
		"it is refused":             {[]journal.Event{fine, read(true, "US-001"), refused}, verdict.Check{}},
	} {
		got := next(beginRun(func(*journal.RunBegan) {}), append([]journal.Event{journal.IterationBegan{Number: 1, Story: "US-001"}}, test.events...))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

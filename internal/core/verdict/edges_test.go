package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// claimed returns the events of an iteration that commits and claims US-001.
func claimed() []journal.Event {
	return []journal.Event{
		journal.IterationBegan{Number: 1, Story: "US-001"},
		journal.AgentEnded{Tools: 1},
		journal.PlanRead{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}, {ID: "US-002"}}}, Claimed: []string{"US-001"}},
		journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true},
		journal.CommitsTaken{From: "b0", To: "c1", Tree: "tree-c1", Work: "tree-c1"},
	}
}

func next(began journal.RunBegan, parts ...[]journal.Event) verdict.Step {
	events := []journal.Event{began}
	for _, part := range parts {
		events = append(events, part...)
	}
	return verdict.Next(fold(events...))
}

// A proof can reject a story: if a check fails, if a person has to look where that is blocked, or if lines are untested.
func TestProofsThatReject(t *testing.T) {
	block := func(b *journal.RunBegan) {
		b.Policy.Tamper, b.Policy.Untested.Do = policy.TamperBlock, policy.UntestedBlock
	}
	report := func(*journal.RunBegan) {}
	review := journal.ProofEnded{Passed: true, Result: journal.NeedsReview, Why: "the tests of the base fail on the new code"}
	untested := journal.ProofEnded{Passed: true, Result: journal.Proven, Untested: []journal.Lines{{File: "a.go", From: 3, To: 5}}}
	for name, test := range map[string]struct {
		began func(*journal.RunBegan)
		proof journal.ProofEnded
		why   string
	}{
		"existing tests fail, and may not":  {block, review, "the tests of the base fail on the new code"},
		"no test needs some lines":          {report, untested, ""},
		"no test needs some lines, and has": {block, untested, "no test needs these lines: a.go:3-5; add a test that fails without them, or remove them"},
	} {
		proof := test.proof
		proof.Story, proof.Base, proof.Commit, proof.Tree = "US-001", "b0", "c1", "tree-c1"
		want := journal.IterationEnded{Number: 1, Story: "US-001", Green: true, Worked: true, Passed: []string{"US-001"}}
		if test.why != "" {
			want.Passed, want.Rejected = nil, []journal.Rejection{{Claim: "US-001", Why: test.why}}
		}
		got := next(beginRun(test.began), claimed(), []journal.Event{proof})
		if diff := cmp.Diff(verdict.Step(verdict.Judge{Verdict: want}), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// claimed returns the events of an iteration that commits and claims US-001, up
// to the story's proof.
func claimed(number int, commit string) []journal.Event {
	return []journal.Event{
		journal.IterationBegan{Number: number, Story: "US-001"},
		journal.AgentEnded{Tools: 1},
		journal.PlanRead{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}, {ID: "US-002"}}}, Claimed: []string{"US-001"}},
		journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true},
		journal.CommitsTaken{From: "b0", To: commit, Tree: "tree-" + commit, Work: "tree-" + commit},
		journal.ProofEnded{Story: "US-001", Base: "b0", Commit: commit, Tree: "tree-" + commit, Passed: true, Result: journal.Proven},
	}
}

func next(began journal.RunBegan, parts ...[]journal.Event) verdict.Step {
	events := []journal.Event{began}
	for _, part := range parts {
		events = append(events, part...)
	}
	return verdict.Next(fold(events...))
}

// A proof belongs to a commit: a story is proven again at another one.
func TestAProofIsOfACommit(t *testing.T) {
	lost := []journal.Event{journal.IterationEnded{Number: 1, Story: "US-001"}}
	began := beginRun(func(*journal.RunBegan) {})
	for name, test := range map[string]struct{ got, want verdict.Step }{
		"none yet": {next(began, claimed(1, "c1")[:5]), verdict.Prove{Story: "US-001", Commit: "c1", Tree: "tree-c1"}},
		"this one": {next(began, claimed(1, "c1")), verdict.Judge{Verdict: journal.IterationEnded{
			Number: 1, Story: "US-001", Green: true, Worked: true, Passed: []string{"US-001"},
		}}},
		"an earlier one": {next(began, claimed(1, "c1"), lost, claimed(2, "c2")[:5]), verdict.Prove{Story: "US-001", Commit: "c2", Tree: "tree-c2"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
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
		"a check fails":                     {report, journal.ProofEnded{Result: journal.Failed, Why: "test failed (exit 1)"}, "on a clean checkout: test failed (exit 1)"},
		"no check can tell":                 {block, journal.ProofEnded{Passed: true, Result: journal.Unknown, Why: "no checks"}, ""},
		"existing tests fail":               {report, review, ""},
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
		got := next(beginRun(test.began), claimed(1, "c1")[:5], []journal.Event{proof})
		if diff := cmp.Diff(verdict.Step(verdict.Judge{Verdict: want}), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Work that was finished before the run is proven too, if there is any.
func TestFinishedWorkIsProven(t *testing.T) {
	finished := func(start string) journal.RunBegan {
		return beginRun(func(b *journal.RunBegan) {
			b.Start, b.Tree, b.Policy.Tamper = start, "tree-"+start, policy.TamperBlock
			b.Policy.Publish, b.Policy.NoPull = true, true
			b.Plan.UserStories = []plan.Story{{ID: "US-001", Passes: true}}
		})
	}
	proven := func(start string, result journal.Result, why string) []journal.Event {
		return []journal.Event{journal.Pushed{SHA: start}, journal.ProofEnded{
			Base: "b0", Commit: start, Tree: "tree-" + start, Passed: result != journal.Failed, Result: result, Why: why,
		}}
	}
	stopped := func(reason policy.Reason, why string) verdict.Step {
		return verdict.Stop{Stopped: journal.RunStopped{Reason: reason, Why: why}}
	}
	own := finished("s0")
	own.Policy.Publish = false
	const nothing = "every story is marked as passed, and no file was changed"
	for name, test := range map[string]struct{ got, want verdict.Step }{
		"of an earlier run in the user's own tree": {next(own, proven("s0", journal.Proven, "")), stopped(policy.NothingToDo, nothing)},
		"not proven yet": {next(finished("s0"), []journal.Event{journal.Pushed{SHA: "s0"}}), verdict.Prove{Commit: "s0", Tree: "tree-s0"}},
		"proven":         {next(finished("s0"), proven("s0", journal.Proven, "")), stopped(policy.AllStoriesPassed, "")},
		"failed":         {next(finished("s0"), proven("s0", journal.Failed, "test failed")), stopped(policy.VerificationFailed, "test failed")},
		"needs review":   {next(finished("s0"), proven("s0", journal.NeedsReview, "A fails")), stopped(policy.VerificationFailed, "A fails")},
		"no work":        {next(finished("b0"), proven("b0", journal.NoNewFailingTest, "")), stopped(policy.NothingToDo, nothing)},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A cancelled run reads the plan once and takes the agent's work. It saves nothing
// if the agent had not ended.
func TestCancelSavesTheWork(t *testing.T) {
	cancelled := []journal.Event{journal.CancelAsked{Why: "SIGINT"}}
	began := beginRun(func(*journal.RunBegan) {})
	whole := claimed(1, "c1")
	for name, test := range map[string]struct{ got, want verdict.Step }{
		"before the agent ended":  {next(began, whole[:1], cancelled), verdict.Stop{Stopped: journal.RunStopped{Reason: policy.Cancelled, Why: "SIGINT"}}},
		"after it ended":          {next(began, whole[:2], cancelled), verdict.ReadPlan{}},
		"after the plan was read": {next(began, whole[:3], cancelled), verdict.TakeCommits{Leftovers: true}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A limit of 1 stops the run.
func TestLimitsOfOne(t *testing.T) {
	failed := []journal.Event{
		journal.IterationBegan{Number: 1, Story: "US-001"}, journal.AgentEnded{Failed: true, Why: "boom"}, journal.IterationEnded{Number: 1, Story: "US-001"},
	}
	for name, test := range map[string]struct {
		limit func(*policy.Limits)
		want  journal.RunStopped
	}{
		"failures": {func(l *policy.Limits) { l.Failures = 1 }, journal.RunStopped{Reason: policy.FatalError, Why: "the agent failed 1 times in a row: boom"}},
		"stall":    {func(l *policy.Limits) { l.Stall = 1 }, journal.RunStopped{Reason: policy.Stalled, Why: "1 iterations in a row left the same tree and the same result"}},
	} {
		if diff := cmp.Diff(verdict.Step(verdict.Stop{Stopped: test.want}), next(limited(test.limit), failed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

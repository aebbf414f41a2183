package verdict_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// provenRun returns a run in which US-001 and US-002 passed, and are proven with the whole change. US-003 passed before, and
// US-004 is open.
func provenRun() journal.Run {
	run := journal.Run{
		Base: "b0", Tree: "t2",
		Iterations: []journal.Iteration{
			{Ended: &journal.IterationEnded{Passed: []string{"US-001"}}},
			{Ended: &journal.IterationEnded{Passed: []string{"US-002"}}},
			{},
		},
		Proofs: []journal.Proof{
			{Story: "US-001", Base: "b0", Tree: "t1", Passed: true, Result: journal.Proven},
			{Story: "US-002", Base: "c1", Tree: "t2", Passed: true, Result: journal.Proven},
			{Base: "b0", Tree: "t2", Passed: true, Result: journal.Proven},
		},
	}
	for _, id := range []string{"US-001", "US-002", "US-003", "US-004"} {
		run.Plan.UserStories = append(run.Plan.UserStories, plan.Story{ID: id, Passes: id != "US-004"})
	}
	return run
}

// Without a new failing test, a story is proven only if people say that it needs none.
func TestIsEnough(t *testing.T) {
	for _, test := range []struct {
		result    journal.Result
		needsTest *bool
		bar       policy.ProofLevel
		want      bool
	}{
		{result: journal.Proven, want: true},
		{result: journal.DocumentsOnly, want: true},
		{result: journal.NoNewFailingTest},
		{result: journal.NoNewFailingTest, needsTest: new(false), want: true},
		{result: journal.NoNewFailingTest, bar: policy.Unbroken, want: true},
		{result: journal.NeedsReview, needsTest: new(false), bar: policy.Unbroken},
		{result: journal.Failed, needsTest: new(false), bar: policy.Unbroken},
		{result: journal.Unknown, needsTest: new(false), bar: policy.Unbroken},
	} {
		run := journal.Run{Policy: policy.Policy{Proof: test.bar}}
		if got := verdict.IsEnough(run, plan.Story{NeedsTest: test.needsTest}, test.result); got != test.want {
			t.Errorf("IsEnough(%+v) = %v", test, got)
		}
	}
}

// The work is proven only if every condition holds, and the reason is the first that does not.
func TestWhyUnproven(t *testing.T) {
	if run := provenRun(); !verdict.IsWorkProven(run) || !verdict.IsVerified(run) {
		t.Fatalf("unproven: %q, stories %v", verdict.WhyUnproven(run), verdict.UnprovenStories(run))
	}
	whole := func(r *journal.Run) *journal.Proof { return &r.Proofs[2] }
	for name, test := range map[string]struct {
		change   func(*journal.Run)
		want     string
		verified bool
	}{
		"another tree":  {func(r *journal.Run) { r.Tree = "t3" }, "the newest commit was not checked on a clean checkout", false},
		"only by story": {func(r *journal.Run) { r.Proofs = r.Proofs[:2] }, "the newest commit was not checked on a clean checkout", true},
		"failed": {func(r *journal.Run) {
			*whole(r) = journal.Proof{Base: "b0", Tree: "t2", Result: journal.Failed, Why: "test failed"}
		}, "test failed", false},
		"unknown":          {func(r *journal.Run) { whole(r).Result, whole(r).Why = journal.Unknown, "no checks" }, "no checks", false},
		"without a reason": {func(r *journal.Run) { whole(r).Result = journal.Unknown }, "Unknown", false},
		"no result":        {func(r *journal.Run) { whole(r).Result = "" }, "Unknown", true},
		"needs review":     {func(r *journal.Run) { whole(r).Result, whole(r).Why = journal.NeedsReview, "A fails" }, "A fails", true},
		"a protected file": {func(r *journal.Run) { whole(r).Restored = []string{"CODEOWNERS"} }, "protected files were changed", true},
		"one is left out": {
			func(r *journal.Run) { r.Iterations[0].Taken = &journal.CommitsTaken{Dropped: []string{"CODEOWNERS"}} },
			"changes of protected files were left out", true,
		},
		"nothing for a comment": {func(r *journal.Run) { r.Task.Added = "and bow" }, "nothing was changed for what the comment asks", true},
		"changed tests only": {
			func(r *journal.Run) {
				whole(r).Result, whole(r).Look = journal.TestsOnly, []journal.Look{{Kind: "existing_test", File: "a_test.go"}}
			},
			"only tests are changed, also existing ones", true,
		},
		"added tests only": {func(r *journal.Run) { whole(r).Result = journal.TestsOnly }, "", true},
		"a story is not":   {func(r *journal.Run) { r.Proofs[1].Result = journal.NoNewFailingTest }, "", true},
	} {
		run := provenRun()
		test.change(&run)
		if got := verdict.WhyUnproven(run); got != test.want {
			t.Errorf("%s: unproven because %q, want %q", name, got, test.want)
		}
		if got := verdict.IsVerified(run); got != test.verified {
			t.Errorf("%s: verified %v, want %v", name, got, test.verified)
		}
		proven := name == "added tests only"
		if got := verdict.IsWorkProven(run); got != proven {
			t.Errorf("%s: the work is proven: %v", name, got)
		}
	}
}

// Only stories that passed in this run have to be proven.
func TestUnprovenStories(t *testing.T) {
	run := provenRun()
	run.Proofs = nil
	var ids []string
	for _, story := range verdict.UnprovenStories(run) {
		ids = append(ids, story.ID)
	}
	if got := strings.Join(ids, " "); got != "US-001 US-002" {
		t.Errorf("UnprovenStories = %q, want the stories that passed in this run", got)
	}
	run.Plan.UserStories[0].Passes = false // reopened since
	if got := verdict.UnprovenStories(run); len(got) != 1 || got[0].ID != "US-002" {
		t.Errorf("UnprovenStories = %+v, want no story that is open", got)
	}
	if open := (plan.Story{ID: "US-001"}); verdict.IsStoryProven(provenRun(), open) {
		t.Error("a story is proven that does not pass any more")
	}
}

// Existing tests may change for the stories for which people allow it, and in the whole change if there is such a story.
func TestMayChangeTests(t *testing.T) {
	run := journal.Run{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", MayChangeTests: true}, {ID: "US-002"}}}}
	for story, want := range map[string]bool{"US-001": true, "US-002": false, "": true} {
		if got := verdict.MayChangeTests(run, story); got != want {
			t.Errorf("%q: %v, want %v", story, got, want)
		}
	}
	run.Plan.UserStories = run.Plan.UserStories[1:]
	if verdict.MayChangeTests(run, "") {
		t.Error("no story allows it, and the whole change may change tests")
	}
	run.Policy.Tamper = policy.TamperAllow
	if !verdict.MayChangeTests(run, "US-002") {
		t.Error("the policy allows it for all stories")
	}
}

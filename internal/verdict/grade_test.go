package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// gradedRun returns a run in which US-001 and US-002 passed. US-003 passed before,
// and US-004 is open.
func gradedRun() journal.Run {
	run := journal.Run{
		Tree: "t2",
		Iterations: []journal.Iteration{
			{Ended: &journal.IterationEnded{Passed: []string{"US-001"}}},
			{Ended: &journal.IterationEnded{Passed: []string{"US-002"}}},
			{},
		},
		Proofs: []journal.Proof{{Tree: "t2", Passed: true}},
		Grades: []journal.StoryGraded{
			{Story: "US-001", Grade: journal.Unverified},
			{Story: "US-001", Grade: journal.RedToGreen, Tests: []string{"cart adds"}},
			{Story: "US-002", Grade: journal.RedToGreen},
		},
	}
	for _, id := range []string{"US-001", "US-002", "US-003", "US-004"} {
		run.Plan.UserStories = append(run.Plan.UserStories, plan.Story{ID: id, Passes: id != "US-004"})
	}
	return run
}

func TestGradeOf(t *testing.T) {
	run := gradedRun()
	if graded, found := run.GradeOf("US-001"); !found || graded.Grade != journal.RedToGreen {
		t.Errorf("GradeOf = %+v, %v, want the newest", graded, found)
	}
	if graded, found := run.GradeOf("US-003"); found || graded.Grade != "" {
		t.Errorf("GradeOf = %+v, %v, want none", graded, found)
	}
}

func TestPassedInRun(t *testing.T) {
	run := gradedRun()
	for id, want := range map[string]bool{"US-001": true, "US-002": true, "US-003": false, "US-004": false} {
		if got := verdict.PassedInRun(run, id); got != want {
			t.Errorf("PassedInRun(%s) = %v, want %v", id, got, want)
		}
	}
}

func TestIsGradeSufficient(t *testing.T) {
	for _, test := range []struct {
		grade     journal.Grade
		needsTest *bool
		bar       policy.ProofLevel
		want      bool
	}{
		{grade: journal.RedToGreen, want: true},
		{grade: journal.Unbroken},
		{grade: journal.Unbroken, needsTest: new(true)},
		{grade: journal.Unbroken, needsTest: new(false), want: true},
		{grade: journal.Unbroken, bar: policy.Unbroken, want: true},
		{grade: journal.Unbroken, bar: policy.RedToGreen},
		{grade: journal.Unverified, needsTest: new(false), bar: policy.Unbroken},
		{bar: policy.Unbroken},
	} {
		run := journal.Run{Policy: policy.Policy{Proof: test.bar}}
		if got := verdict.IsGradeSufficient(run, plan.Story{NeedsTest: test.needsTest}, test.grade); got != test.want {
			t.Errorf("IsGradeSufficient(%+v) = %v", test, got)
		}
	}
}

// Documents or tests alone prove no story, also if it asks for them: only people can say that it needs no test.
func TestDocumentsProveNothing(t *testing.T) {
	for _, grade := range []journal.Grade{journal.DocumentsOnly, journal.TestsOnly} {
		for _, needsTest := range []*bool{nil, new(true), new(false)} {
			run := gradedRun()
			run.Plan.UserStories[0] = plan.Story{ID: "US-001", Title: "Document the tests", Passes: true, NeedsTest: needsTest}
			run.Grades[1].Grade = grade
			proven := len(verdict.UnprovenStories(run)) == 0
			if want := needsTest != nil && !*needsTest; proven != want {
				t.Errorf("%s: proven %v, want %v", grade, proven, want)
			}
		}
	}
}

// A story is proven if it passes with a sufficient grade.
func TestIsStoryProven(t *testing.T) {
	run := gradedRun()
	for _, test := range []struct {
		story plan.Story
		want  bool
	}{
		{plan.Story{ID: "US-001", Passes: true}, true},
		{plan.Story{ID: "US-001"}, false},
		{plan.Story{ID: "US-003", Passes: true}, false},
	} {
		if got := verdict.IsStoryProven(run, test.story); got != test.want {
			t.Errorf("IsStoryProven(%+v) = %v", test.story, got)
		}
	}
	run.Grades[1].Grade = journal.Unbroken
	if verdict.IsStoryProven(run, plan.Story{ID: "US-001", Passes: true}) {
		t.Error("a story is proven by an insufficient grade")
	}
	run.Grades, run.Policy.Proof = nil, policy.Unbroken
	if verdict.IsStoryProven(run, plan.Story{ID: "US-001", Passes: true, NeedsTest: new(false)}) {
		t.Error("an ungraded story is proven")
	}
}

// The work is proven only if every condition holds.
func TestIsWorkProven(t *testing.T) {
	if run := gradedRun(); !verdict.IsWorkProven(run) || len(verdict.UnprovenStories(run)) > 0 {
		t.Fatalf("IsWorkProven = %v, UnprovenStories %v, want it to begin with", verdict.IsWorkProven(run), verdict.UnprovenStories(run))
	}
	for why, change := range map[string]func(*journal.Run){
		"the newest tree was not proven": func(r *journal.Run) { r.Tree = "t3" },
		"its proof failed":               func(r *journal.Run) { r.Proofs[0].Passed = false },
		"its proof ran no tests":         func(r *journal.Run) { r.Proofs[0].Empty = true },
		"a protected file is changed":    func(r *journal.Run) { r.Proofs[0].Restored = []string{"CODEOWNERS"} },
		"one is left out":                func(r *journal.Run) { r.Iterations[0].Taken = &journal.CommitsTaken{Dropped: []string{"CODEOWNERS"}} },
		"a story is unverified":          func(r *journal.Run) { r.Grades[2].Grade = journal.Unverified },
		"a story has no grade":           func(r *journal.Run) { r.Grades = r.Grades[:2] },
		"a test is skipped, which is blocked": func(r *journal.Run) {
			r.Policy.Tamper = policy.TamperBlock
			r.Inspections = []journal.ChangeInspected{{Tree: "t2", Found: []journal.Loosened{{File: "a_test.go"}}}}
		},
		"a test is skipped, which is reported": func(r *journal.Run) {
			r.Policy.Tamper = policy.TamperReport
			r.Inspections = []journal.ChangeInspected{{Tree: "t2", Found: []journal.Loosened{{File: "a_test.go"}}}}
		},
		"nothing was done for a comment": func(r *journal.Run) {
			r.Task.Added = "and bow"
			for _, story := range r.Plan.UserStories {
				r.Earlier = append(r.Earlier, journal.Proven{Request: r.Request(story), Tests: []string{"greet"}})
			}
		},
		"the inspection failed": func(r *journal.Run) {
			r.Policy.Tamper = policy.TamperReport
			r.Inspections = []journal.ChangeInspected{{Tree: "t2", Why: "git broke"}}
		},
	} {
		run := gradedRun()
		if change(&run); verdict.IsWorkProven(run) {
			t.Errorf("IsWorkProven although %s", why)
		}
	}
	allowed := gradedRun()
	allowed.Policy.Tamper = policy.TamperAllow
	allowed.Inspections = []journal.ChangeInspected{{Tree: "t2", Found: []journal.Loosened{{File: "a_test.go"}}}}
	if !verdict.IsWorkProven(allowed) || len(verdict.UnprovenStories(allowed)) > 0 {
		t.Error("an allowed skipped test blocks the work")
	}
}

// Only stories that passed in this run have to be proven.
func TestUnprovenStories(t *testing.T) {
	run := gradedRun()
	run.Grades = nil
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
}

// fixingRun returns a run whose check failed at the base with three tests, and its result now.
func fixingRun() (journal.Run, journal.CheckEnded) {
	red := journal.CheckEnded{Name: "test", Tests: &journal.Tests{Passed: 1, Failed: 3, Red: []string{"a", "b", "c"}}}
	run := journal.Run{
		Policy:     policy.Policy{Checks: []policy.Check{{Name: "test"}}, Baseline: policy.BaselineNew},
		BaseChecks: []journal.CheckEnded{red},
	}
	now := journal.CheckEnded{Name: "test", Passed: true, Tests: &journal.Tests{
		Passed: 3, Asked: map[string]tally.Outcome{"a": tally.Passed, "b": tally.Failed, "c": tally.Passed},
	}}
	return run, now
}

func TestFixedTests(t *testing.T) {
	run, now := fixingRun()
	proof := journal.Proof{Checks: []journal.CheckEnded{now}}
	if got := verdict.FixedTests(run, "US-001", proof); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("FixedTests = %q, want the tests that failed and pass", got)
	}
	run.Grades = []journal.StoryGraded{{Story: "US-002", Tests: []string{"c"}}, {Story: "US-001", Tests: []string{"a"}}}
	if got := verdict.FixedTests(run, "US-001", proof); !slices.Equal(got, []string{"a"}) {
		t.Errorf("FixedTests = %q, want no test of another story", got)
	}
	for test, want := range map[string]bool{"c": true, "a": false, "b": false} {
		if got := verdict.IsCreditedElsewhere(run, test, "US-001"); got != want {
			t.Errorf("IsCreditedElsewhere(%s) = %v, want %v", test, got, want)
		}
	}
	run.Grades = nil
	held := now
	held.Passed, held.Tests = false, &journal.Tests{Passed: 1, Red: []string{"new"}, Asked: now.Tests.Asked}
	if got := verdict.FixedTests(run, "US-003", journal.Proof{Checks: []journal.CheckEnded{held}}); got != nil {
		t.Errorf("FixedTests = %q for a check that blocks the work", got)
	}
	run.Policy.Checks[0].Added = true
	if got := verdict.FixedTests(run, "US-003", proof); got != nil {
		t.Errorf("FixedTests = %q for a check that the task added", got)
	}
}

// A detected check that failed at the base does not block, even under a strict baseline.
func TestDetectedChecksBlockNoStory(t *testing.T) {
	run := journal.Run{Policy: policy.Policy{
		Baseline: policy.BaselineStrict,
		Checks:   []policy.Check{{Name: "test"}, {Name: "lint", Detected: true}, {Name: "vet", Detected: true}, {Name: "slow"}, {Name: "gone"}},
	}}
	run.BaseChecks = []journal.CheckEnded{{Name: "test", Exit: 1}, {Name: "lint", Exit: 1}, {Name: "vet", Passed: true}, {Name: "slow", TimedOut: true}, {Name: "gone", CannotRun: true}}
	for name, want := range map[string]bool{"test": true, "lint": false, "vet": true, "slow": true, "gone": true, "unknown": true} {
		if got := verdict.MayBlock(run, name); got != want {
			t.Errorf("MayBlock(%s) = %v, want %v", name, got, want)
		}
	}
}

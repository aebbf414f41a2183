package checkout_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
)

// The grade is the first reason against a proof, in the order of their weight.
func TestSum(t *testing.T) {
	usable, passed := &journal.BaselineEnded{Usable: true}, journal.Proof{Tree: "t", Passed: true}
	broken := journal.ChangeInspected{Tree: "t", Found: []journal.Loosened{{File: "a_test.go", Kind: "tests_broken", Why: "it fails"}}}
	for _, c := range []struct {
		name       string
		baseline   *journal.BaselineEnded
		proof      journal.Proof
		inspected  journal.ChangeInspected
		grade      journal.Grade
		bar        policy.ProofLevel
		tamper     policy.Tamper
		want       string
		wantProven bool
	}{
		{name: "red to green", baseline: usable, proof: passed, grade: journal.RedToGreen, want: checkout.Proven, wantProven: true},
		{name: "no check", baseline: &journal.BaselineEnded{}, grade: journal.RedToGreen, want: checkout.Untold},
		{name: "stopped before the baseline", grade: journal.RedToGreen, want: checkout.Untold},
		{name: "a check fails", baseline: usable, proof: journal.Proof{Tree: "t"}, grade: journal.RedToGreen, want: checkout.NotProven},
		{name: "a proof without a test", baseline: usable, proof: journal.Proof{Tree: "t", Passed: true, Empty: true}, grade: journal.RedToGreen, want: checkout.Untold},
		{name: "old tests fail", baseline: usable, proof: passed, inspected: broken, grade: journal.RedToGreen, want: checkout.Held},
		{name: "old tests fail, and may", baseline: usable, proof: passed, inspected: broken, grade: journal.RedToGreen, tamper: policy.TamperAllow, want: checkout.Proven, wantProven: true},
		{name: "old tests could not run", baseline: usable, proof: passed, inspected: journal.ChangeInspected{Tree: "t", Why: "git fails"}, grade: journal.RedToGreen, want: checkout.Held},
		{name: "old tests fail under documents", baseline: usable, proof: passed, inspected: broken, grade: journal.DocumentsOnly, want: checkout.Held},
		{name: "a check's definition", baseline: usable, proof: journal.Proof{Tree: "t", Passed: true, Restored: []string{"Makefile"}}, grade: journal.RedToGreen, want: checkout.Held},
		{name: "no test", baseline: usable, proof: passed, grade: journal.Unbroken, want: "unbroken"},
		{name: "no test is needed", baseline: usable, proof: passed, grade: journal.Unbroken, bar: policy.Unbroken, want: checkout.Proven, wantProven: true},
		{name: "documents", baseline: usable, proof: passed, grade: journal.DocumentsOnly, want: "documents only"},
		{name: "documents where no test is needed", baseline: usable, proof: passed, grade: journal.DocumentsOnly, bar: policy.Unbroken, want: "documents only"},
		{name: "tests", baseline: usable, proof: passed, grade: journal.TestsOnly, want: "tests only"},
		{name: "nothing changed", baseline: usable, proof: passed, grade: journal.Unverified, want: checkout.NotProven},
	} {
		if c.tamper == "" {
			c.tamper = policy.TamperReport
		}
		run := journal.Run{
			Head: "c", Tree: "t", Baseline: c.baseline, Policy: policy.Policy{Proof: c.bar, Tamper: c.tamper},
			Plan:   plan.Plan{UserStories: []plan.Story{{ID: "change", Passes: true}}},
			Grades: []journal.StoryGraded{{Story: "change", Commit: "c", Grade: c.grade}},
		}
		if c.proof.Tree != "" {
			run.Proofs = []journal.Proof{c.proof}
		}
		if c.inspected.Tree != "" {
			run.Inspections = []journal.ChangeInspected{c.inspected}
		}
		if got := checkout.Sum(run); got.Grade != c.want || got.Proven != c.wantProven {
			t.Errorf("%s: %q, proven %t (%s); want %q, %t", c.name, got.Grade, got.Proven, got.Why, c.want, c.wantProven)
		}
	}
}

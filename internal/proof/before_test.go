package proof_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// A story of which nothing was changed is shown to have been done before by a
// test of each criterion that is green at the base, and by nothing less.
func TestGradeOfWhatWasSoBefore(t *testing.T) {
	for name, c := range map[string]struct {
		named   []string
		head    string
		brought bool // the check is the task's own
		told    string
		want    []string
	}{
		"a test for each":           {named: []string{"TestAdd", "p.TestRemove"}, want: []string{"p.TestAdd", "p.TestRemove"}},
		"one test for both":         {named: []string{"TestAdd", "TestAdd"}, want: []string{"p.TestAdd", "p.TestAdd"}},
		"none named":                {},
		"one criterion without":     {named: []string{"TestAdd"}},
		"one with no name":          {named: []string{"TestAdd", ""}},
		"there is no such test":     {named: []string{"TestAdd", "TestSell"}},
		"a part of a test's name":   {named: []string{"TestAdd", "move"}},
		"one is red":                {named: []string{"TestAdd", "TestBroken"}},
		"one was skipped":           {named: []string{"TestAdd", "TestLater"}},
		"the runner names no tests": {named: []string{"TestAdd", "TestRemove"}, told: "-"},
		"a check of the task's own": {named: []string{"TestAdd", "TestRemove"}, brought: true},
		"work for other stories":    {named: []string{"TestAdd", "TestRemove"}, head: "c1", want: []string{"p.TestAdd", "p.TestRemove"}},
	} {
		run := proved(asked(counted(3)), counted(3))
		run.Base, run.Head = "b0", "b0"
		if c.head != "" {
			run.Head = c.head
		}
		run.Plan.UserStories = []plan.Story{{ID: "US-001", AcceptanceCriteria: []string{"adds", "removes"}, TestedBy: c.named}}
		for i := range run.Policy.Checks {
			run.Policy.Checks[i].Added = c.brought
		}
		run.Proofs[0].Rules.Checks = run.Policy.Checks
		told := "passed p.TestAdd\npassed p.TestRemove\nfailed p.TestBroken\nskipped p.TestLater"
		if c.told != "" {
			told = ""
		}
		l := &lab{}
		p := l.prover()
		p.Tests = shelf{idle: true, lists: map[journal.Where]string{journal.AtProof: told}}
		if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: run.Head, Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		graded, is := l.last().(journal.StoryGraded)
		if diff := cmp.Diff(c.want, graded.Held); !is || diff != "" {
			t.Errorf("%s: graded as %+v, held (-want +got):\n%s", name, l.last(), diff)
		}
		if proven := graded.Grade == journal.Unbroken; proven != (len(c.want) > 0) {
			t.Errorf("%s: graded as %s", name, graded.Grade)
		}
	}
}

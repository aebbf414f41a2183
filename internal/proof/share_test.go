package proof_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// A Go test that is not named did not run, though its package is "ok".
func TestATestThatIsNotNamedHasNotPassed(t *testing.T) {
	const pkg, cart, old = "example.com/p", "example.com/p.TestCart", "example.com/p.TestOld"
	for name, c := range map[string]struct {
		there journal.CheckEnded
		here  string
		want  []string
	}{
		"it ran":                     {failing([]string{cart}), "passed " + cart + "\npassed " + old, []string{cart}},
		"the program ended first":    {failing([]string{cart}), "passed " + pkg, nil},
		"it is skipped":              {failing([]string{cart}), "skipped " + cart, nil},
		"another begins like it":     {failing([]string{cart + "Total"}), "passed " + cart, nil},
		"it does not build there":    {failing(nil, pkg), "passed " + cart + "\npassed " + old, []string{cart}},
		"nor does anything run here": {failing(nil, pkg), "passed " + pkg, nil},
	} {
		l := &lab{says: []journal.CheckEnded{c.there}}
		p := l.prover()
		p.Tests = shelf{files: []string{"cart_test.go"}, stand: "b0+tests", lists: map[journal.Where]string{journal.AtBase: "passed " + old, journal.AtProof: c.here}}
		if err := p.Grade(t.Context(), proved(asked(told("go", 1)), told("go", 1)), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		graded, is := l.last().(journal.StoryGraded)
		if diff := cmp.Diff(c.want, graded.Tests); diff != "" || !is || (graded.Grade == journal.RedToGreen) != (c.want != nil) {
			t.Errorf("%s: graded %q, %q (-want +got):\n%s", name, graded.Grade, graded.Why, diff)
		}
	}
}

// later returns a run that has proven US-000, by a test file that US-001 changed, too.
func later(here journal.CheckEnded, names ...string) journal.Run {
	run := proved(asked(told("jest", 1)), here)
	first := journal.Proof{Commit: "c0", Checks: []journal.CheckEnded{{Where: journal.AtWork, Name: "test"}}}
	run.Iterations = []journal.Iteration{{Story: "US-000", Proof: &first}, {Story: "US-001"}}
	run.Grades = []journal.StoryGraded{{Story: "US-000", Grade: journal.RedToGreen, Files: []string{"a.test.js"}, Tests: names}}
	return run
}

// onto returns a run that builds on work of which nine passes, and ten if an earlier run proved something by it.
func onto(proven ...string) journal.Run {
	run := proved(asked(told("jest", 1)), told("jest", 3))
	run.Onto, run.Iterations = journal.Onto{Commit: "s0", Tree: "ts"}, []journal.Iteration{{Story: "US-001"}}
	start := journal.Proof{Commit: "s0", Tree: "ts", Rules: run.Proofs[0].Rules, Checks: []journal.CheckEnded{{Where: journal.AtWork, Name: "test"}}}
	run.Proofs = append([]journal.Proof{start}, run.Proofs...)
	story, _ := run.Plan.Find("US-001")
	run.Earlier = []journal.Proven{{Request: "another", Tests: []string{"nine"}}, {Request: run.Request(story), Tests: proven}}
	return run
}

// allowed returns a run of which US-001 may change the tests of US-000, and what became of ten.
func allowed(kind string) journal.Run {
	run := later(told("jest", 3), "ten")
	run.Plan.UserStories = []plan.Story{{ID: "US-001", MayChangeTests: true}}
	run.Inspections = []journal.ChangeInspected{{Tree: "t1", Shown: []journal.Loosened{{Kind: kind, Tests: []string{"ten"}}}}}
	return run
}

// beside returns a run on work that an earlier run left open, beside what it proved.
func beside(run journal.Run, proved ...journal.Proven) journal.Run {
	run.Start = run.Onto.Commit
	run.Open = journal.OpenWork{Stories: []journal.OpenStory{{Title: "It pays"}}, Proved: proved}
	return run
}

// What another story is shown by, or was green when this one began, shows nothing
// of this one.
func TestAnotherStorysTestShowsNothing(t *testing.T) {
	const others = "the tests that fail without its change belong to other stories, or existed before"
	for name, c := range map[string]struct {
		run   journal.Run
		there []string
		want  journal.StoryGraded
	}{
		"it was graded by it":              {later(told("jest", 3), "ten"), []string{"ten"}, journal.StoryGraded{Grade: journal.Unbroken, Why: others}},
		"it was green then":                {later(told("jest", 3)), []string{"nine"}, journal.StoryGraded{Grade: journal.Unbroken, Why: others}},
		"people let it change, and it did": {allowed("tests_broken"), []string{"ten"}, journal.StoryGraded{Grade: journal.RedToGreen, Tests: []string{"ten"}}},
		"people let it change; it did not": {allowed("tests_changed"), []string{"ten"}, journal.StoryGraded{Grade: journal.Unbroken, Why: others}},
		"it was green where the run began": {onto(), []string{"nine"}, journal.StoryGraded{Grade: journal.Unbroken, Why: others}},
		"it proved that story before":      {onto("nine"), []string{"nine"}, journal.StoryGraded{Grade: journal.RedToGreen, Tests: []string{"nine"}}},
		"it may be of open work":           {beside(onto("nine")), []string{"nine", "ten"}, journal.StoryGraded{Grade: journal.RedToGreen, Tests: []string{"nine"}}},
		"it proved another beside that":    {beside(onto(), journal.Proven{Request: "It greets", Tests: []string{"ten"}}), []string{"ten"}, journal.StoryGraded{Grade: journal.Unbroken, Why: others}},
		"it is new":                        {onto(), []string{"nine", "ten"}, journal.StoryGraded{Grade: journal.RedToGreen, Tests: []string{"ten"}}},
		"it has its own":                   {later(told("jest", 3), "ten"), []string{"ten", "hundred"}, journal.StoryGraded{Grade: journal.RedToGreen, Tests: []string{"hundred"}}},
	} {
		l := &lab{says: []journal.CheckEnded{failing(c.there)}}
		p := l.prover()
		p.Tests = shelf{files: []string{"a.test.js"}, stand: "b0+tests", lists: map[journal.Where]string{
			journal.AtWork: "passed nine", journal.AtProof: "passed nine\npassed ten\npassed hundred",
		}}
		if err := p.Grade(t.Context(), c.run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		c.want.Story, c.want.Commit, c.want.Files = "US-001", "c1", []string{"a.test.js"}
		if diff := cmp.Diff(journal.Event(c.want), l.last()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// onShelf notes onto which commit a story's tests are put.
type onShelf struct {
	shelf

	base *string
}

func (s onShelf) Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error) {
	*s.base = run.Base
	return s.shelf.Onto(ctx, run, commit, files)
}

// A story's tests have to fail on the newest code before it that passed its proof: what an earlier story made is missing on
// the base, too.
func TestTestsAreTriedOnTheCodeBefore(t *testing.T) {
	passed := func(run journal.Run) journal.Run {
		run.Iterations[0].Proof.Passed = true
		return run
	}
	work := onto()
	work.Proofs[0].Passed = true
	proven := onto("nine")
	proven.Proofs[0].Passed = true
	begun := passed(later(told("jest", 3)))
	begun.Iterations = append([]journal.Iteration{{Story: "US-001", Taken: &journal.CommitsTaken{From: "w0", To: "w1"}}}, begun.Iterations...)
	named, unnamed := failing([]string{"ten"}), failing(nil)
	for name, c := range map[string]struct {
		run  journal.Run
		says journal.CheckEnded
		want string
	}{
		"the first":                 {proved(asked(told("jest", 1)), told("jest", 3)), named, "b0"},
		"after another":             {passed(later(told("jest", 3))), named, "c0"},
		"after one that failed":     {later(told("jest", 3)), named, "b0"},
		"onto earlier work":         {work, named, "s0"},
		"onto work that failed":     {onto(), named, "s0"},
		"of what was proven":        {proven, named, "b0"},
		"begun before another":      {begun, named, "c0 without w1"},
		"which that other one uses": {begun, unnamed, "w0"},
	} {
		l, base := &lab{says: []journal.CheckEnded{c.says}}, ""
		p := l.prover()
		p.Tests = onShelf{shelf{files: []string{"a.test.js"}, stand: "x+tests", lists: map[journal.Where]string{journal.AtProof: "passed ten"}}, &base}
		if err := p.Grade(t.Context(), c.run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil || base != c.want {
			t.Errorf("%s: the tests are put onto %s, want %s: %v", name, base, c.want, err)
		}
	}
}

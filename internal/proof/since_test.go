package proof_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// A red test that people pushed proves a story once it passes, unless it may have been red for another reason.
func TestRedTestsThatPeoplePushed(t *testing.T) {
	pushed := func(red journal.CheckEnded, change ...func(*journal.Run)) journal.Run {
		run := proved(asked(told("jest", 1)), told("jest", 2))
		run.Plan.UserStories = []plan.Story{{ID: "US-001", Title: "It pays"}}
		run.Onto, run.Iterations = journal.Onto{Commit: "s0", Tree: "ts"}, []journal.Iteration{{Story: "US-001"}}
		run.Grounds = []journal.Joined{{Onto: &run.Onto, Sound: "p0"}}
		run.Proofs = append([]journal.Proof{{Commit: "s0", Tree: "ts", Rules: run.Proofs[0].Rules, Checks: []journal.CheckEnded{red}}}, run.Proofs...)
		for _, f := range change {
			f(&run)
		}
		return run
	}
	open := func(tree string, titles ...string) func(*journal.Run) {
		return func(run *journal.Run) {
			run.Open = journal.OpenWork{Since: "b0", Tree: tree}
			for _, title := range titles {
				run.Open.Stories = append(run.Open.Stories, journal.OpenStory{Title: title, Meaning: run.Task.Meaning(run.Plan.UserStories[0], run.Plan)})
			}
		}
	}
	flaky, broken := failing([]string{"ten"}), failing([]string{"ten"}, "a.test.js")
	flaky.First = &journal.Try{Tests: &journal.Tests{Red: []string{"nine"}}}
	for name, c := range map[string]struct {
		run   journal.Run
		lists map[journal.Where]string
		says  []journal.CheckEnded
		want  []string
	}{
		"it passes":                         {run: pushed(failing([]string{"ten"})), want: []string{"ten"}},
		"it does not run":                   {run: pushed(failing([]string{"hundred"}))},
		"it passed at the base":             {run: pushed(failing([]string{"ten"})), lists: map[journal.Where]string{journal.AtBase: "passed ten"}},
		"it passed before the push":         {run: pushed(failing([]string{"ten"})), lists: map[journal.Where]string{journal.AtDoubt: "passed ten"}},
		"that is unknown":                   {run: pushed(failing([]string{"ten"})), says: []journal.CheckEnded{failing([]string{"hundred"}, "b.test.js")}},
		"without a push":                    {run: pushed(failing([]string{"ten"}), func(run *journal.Run) { run.Grounds = nil })},
		"it was red by chance":              {run: pushed(flaky)},
		"not all could build":               {run: pushed(broken)},
		"it may need its open work":         {run: pushed(failing([]string{"ten"}), open("tt", "It pays"))},
		"it may need another's open work":   {run: pushed(failing([]string{"ten"}), open("", "It greets"))},
		"it was red with that, as is known": {run: pushed(failing([]string{"ten"}), open("ts", "It greets")), want: []string{"ten"}},
		"or with its own":                   {run: pushed(failing([]string{"ten"}), open("ts", "It pays")), want: []string{"ten"}},
	} {
		l := &lab{says: c.says}
		if l.says == nil {
			l.says = []journal.CheckEnded{told("jest", 2)}
		}
		p := l.prover()
		lists := map[journal.Where]string{journal.AtProof: "passed nine\npassed ten"}
		maps.Copy(lists, c.lists)
		p.Tests = shelf{files: []string{"a.test.js"}, stand: "b0+tests", lists: lists}
		if err := p.Grade(t.Context(), c.run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		graded, is := l.last().(journal.StoryGraded)
		if diff := cmp.Diff(c.want, graded.Tests); diff != "" || !is || (graded.Grade == journal.RedToGreen) != (c.want != nil) {
			t.Errorf("%s: graded %q, %q (-want +got):\n%s", name, graded.Grade, graded.Why, diff)
		}
	}
}

package proof

import (
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// before looks whether the tests that are named for a story show that it was
// done before the run began. That can be so only where nothing was changed: the
// commit that was proven is the base, and each criterion has a test that is
// green there.
func (p Prover) before(run journal.Run, at journal.Proof, graded journal.StoryGraded) journal.StoryGraded {
	story, found := run.Plan.Find(graded.Story)
	if !found || !run.Untouched() {
		return graded
	}
	graded.Sought = story.TestedBy
	green := p.green(run, at)
	for i := range story.AcceptanceCriteria {
		test := ""
		if i < len(story.TestedBy) {
			test = journal.Named(green, story.TestedBy[i])
		}
		if test == "" {
			graded.Held = nil
			return graded
		}
		graded.Held = append(graded.Held, test)
	}
	if len(graded.Held) > 0 {
		graded.Grade, graded.Why = journal.Unbroken, "it was so before, by "+journal.Few(graded.Held)
	}
	return graded
}

// green are the tests that passed in a proof, of checks that prove something.
func (p Prover) green(run journal.Run, at journal.Proof) []string {
	var names []string
	for _, check := range at.Checks {
		if run.Proves(check) && !run.Holds(check) {
			names = append(names, p.Tests.Told(check).Names(tally.Passed)...)
		}
	}
	return names
}

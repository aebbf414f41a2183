package proof

import (
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// idle grades a story for which nothing was changed. It holds already where each criterion names a test that is green
// in the proof.
func (p Prover) idle(run journal.Run, at journal.Proof, graded journal.StoryGraded) journal.StoryGraded {
	story, _ := run.Plan.Find(graded.Story)
	graded.Idle, graded.Why, graded.Sought = true, "nothing was changed for it", story.TestedBy
	green := p.green(run, at)
	for i := range story.AcceptanceCriteria {
		test := ""
		if i < len(story.TestedBy) {
			test = verdict.FindTest(green, story.TestedBy[i])
		}
		if test == "" {
			graded.Held = nil
			return graded
		}
		graded.Held = append(graded.Held, test)
	}
	switch {
	case len(graded.Held) == 0:
		return graded
	case verdict.IsUntouched(run):
		graded.Why = "it was so before, by " + journal.ShortList(graded.Held)
	default:
		graded.Why += ", and it holds by " + journal.ShortList(graded.Held)
	}
	graded.Grade = journal.Unbroken
	return graded
}

func (p Prover) green(run journal.Run, at journal.Proof) []string {
	var names []string
	for _, check := range at.Checks {
		if verdict.CanProve(run, check) && !verdict.BlocksStory(run, check) {
			names = append(names, p.Tests.Told(check).Names(tally.Passed)...)
		}
	}
	return names
}

package proof

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

const (
	// Numbers of places, for the names of logs.
	tryAlone    = 101 // only a story's own test files
	tryBase     = 102 // the base once more
	trySettings = 103 // the base's settings
	tryDoubtful = 200 // added once or twice to the number of a reference
)

// isForeign reports whether a test belongs to another story, or passed before this one began, unless it proved the same
// story in the run before.
func (t *trial) isForeign(name string) bool {
	if slices.Contains(t.run.ProvedBefore(t.graded.Story), name) {
		return false
	}
	if verdict.IsCreditedElsewhere(t.run, name, t.graded.Story) {
		return true
	}
	return slices.ContainsFunc(t.run.EarlierProofs(t.graded.Story), func(proof journal.Proof) bool {
		return slices.ContainsFunc(proof.Checks, func(check journal.CheckEnded) bool { return t.told(check).Of(name) == tally.Passed })
	})
}

// began returns the run with the code on which the story began as its base: the newest that passed its proof before. A
// new test of what an earlier story made fails on the base, too. What proved the same story before is tried on the base.
func (t *trial) began() journal.Run {
	began := t.run
	if len(t.run.ProvedBefore(t.graded.Story)) > 0 {
		return began
	}
	for _, proof := range t.run.EarlierProofs(t.graded.Story) {
		if proof.Passed {
			began.Base = proof.Commit
		}
	}
	return began
}

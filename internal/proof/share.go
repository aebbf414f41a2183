package proof

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

const (
	// Numbers of places, for the names of logs.
	tryStart    = 101 // the code on which a story began
	tryAlone    = 102 // only a story's own test files
	tryBase     = 103 // the base once more
	trySettings = 104 // the base's settings
	tryDoubtful = 200 // added once or twice to the number of a reference
)

// isForeign reports whether a test belongs to another story, or passed before this one began, unless it proved the same
// story in the run before.
func (t *trial) isForeign(name string) bool {
	if slices.Contains(t.provedBefore(), name) {
		return false
	}
	if verdict.IsCreditedElsewhere(t.run, name, t.graded.Story) {
		return true
	}
	return slices.ContainsFunc(t.run.EarlierProofs(t.graded.Story), func(proof journal.Proof) bool {
		return slices.ContainsFunc(proof.Checks, func(check journal.CheckEnded) bool { return t.told(check).Of(name) == tally.Passed })
	})
}

// provedBefore returns what proved the same story in the run before.
func (t *trial) provedBefore() []string {
	story, _ := t.run.Plan.Find(t.graded.Story)
	for _, earlier := range t.run.Earlier {
		if earlier.Request == t.run.Request(story) {
			return earlier.Tests
		}
	}
	return nil
}

// sharesFiles reports whether the story shares test files with an earlier story: a file that
// fails as a whole may belong to that one.
func (t *trial) sharesFiles() bool {
	if len(t.run.EarlierProofs(t.graded.Story)) == 0 {
		return false
	}
	if t.run.Onto.Tree != "" { // the files of the run before count for each story
		return len(t.provedBefore()) == 0
	}
	return slices.ContainsFunc(t.run.Grades, func(g journal.StoryGraded) bool {
		return g.Story != t.graded.Story && slices.ContainsFunc(g.Files, func(file string) bool { return slices.Contains(t.graded.Files, file) })
	})
}

// tryAtStart runs the tests on the code on which the story began.
func (p Prover) tryAtStart(ctx context.Context, t *trial, files []string) error {
	earlier := t.run.EarlierProofs(t.graded.Story)
	began := t.run
	began.Base = earlier[len(earlier)-1].Commit
	stand, err := p.Tests.Onto(ctx, began, t.graded.Commit, files)
	if err != nil {
		return err
	}
	at := Place{Where: journal.AtDoubt, Commit: t.graded.Commit, Stand: stand, Again: t.mayBeChance, Number: tryStart}
	seen, err := p.run(ctx, t.run, at, t.graded.Add)
	t.atStart = &seen
	return err
}

// redAtStart keeps what is also red on the code on which the story began.
func (t *trial) redAtStart(one turned, check string) turned {
	there, ran := journal.FindCheck(t.atStart.checks, check)
	red := ran && !there.Passed && there.Skipped == "" && noResult(there) == ""
	left := turned{tests: one.tests, all: one.all && red}
	failing := there.Tests.Failing()
	for _, whole := range one.groups {
		if red && slices.ContainsFunc(failing, func(name string) bool { return strings.HasPrefix(name, whole) }) {
			left.groups = append(left.groups, whole)
		}
	}
	t.foreign = t.foreign || one.unnamed() && !left.unnamed()
	return left
}

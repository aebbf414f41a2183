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
	tryStart    = 101 // on the code that a story began with
	tryAlone    = 102 // only a story's own test files run
	tryBase     = 103 // the base as it is
	trySettings = 104 // with the base's settings
	tryDoubtful = 200 // the numbers of an inspection's further runs begin after it and its double
)

// before tells whether a test is another story's, or passed before this one began.
func (t *trial) before(name string) bool {
	if verdict.IsCreditedElsewhere(t.run, name, t.graded.Story) {
		return true
	}
	return slices.ContainsFunc(t.run.EarlierProofs(t.graded.Story), func(proof journal.Proof) bool {
		return slices.ContainsFunc(proof.Checks, func(check journal.CheckEnded) bool { return t.tests.Told(check).Of(name) == tally.Passed })
	})
}

// shares tells whether the story has test files in common with one that was
// graded before it began: what fails as a whole may be that one's.
func (t *trial) shares() bool {
	if len(t.run.EarlierProofs(t.graded.Story)) == 0 {
		return false
	}
	return slices.ContainsFunc(t.run.Grades, func(g journal.StoryGraded) bool {
		return g.Story != t.graded.Story && slices.ContainsFunc(g.Files, func(file string) bool { return slices.Contains(t.graded.Files, file) })
	})
}

// since tries the tests on the code that the story began with.
func (p Prover) since(ctx context.Context, t *trial, files []string) error {
	earlier := t.run.EarlierProofs(t.graded.Story)
	began := t.run
	began.Base = earlier[len(earlier)-1].Commit
	stand, err := p.Tests.Onto(ctx, began, t.graded.Commit, files)
	if err != nil {
		return err
	}
	at := Place{Where: journal.AtDoubt, Commit: t.graded.Commit, Stand: stand, Again: t.doubtful, Number: tryStart}
	seen, err := p.run(ctx, t.run, at, t.graded.Add)
	t.anew = &seen
	return err
}

// still leaves what is red on the code that the story began with, too.
func (t *trial) still(one turned, check string) turned {
	there, ran := journal.FindCheck(t.anew.checks, check)
	red := ran && !there.Passed && there.Skipped == "" && untold(there) == ""
	left := turned{tests: one.tests, all: one.all && red}
	failing := there.Tests.Failing()
	for _, whole := range one.wholes {
		if red && slices.ContainsFunc(failing, func(name string) bool { return strings.HasPrefix(name, whole) }) {
			left.wholes = append(left.wholes, whole)
		}
	}
	t.owned = t.owned || one.whole() && !left.whole()
	return left
}

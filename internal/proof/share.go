package proof

import (
	"context"
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
	tryLate     = 104 // a story's tests after setup
	tryUnpushed = 105 // what was proven before people pushed
	tryBare     = 106 // a base without the story's tests
	tryDoubtful = 200 // added once or twice to the number of a reference
	tryJoined   = 600 // added to the number of a reference with people's later changes
)

// isForeign reports whether a test belongs to another story, or passed before this one began, unless it proved the same
// story in the run before, or people let the story change it and it did.
func (t *trial) isForeign(name string) bool {
	proved := t.run.ProvedBefore(t.graded.Story)
	switch {
	case slices.Contains(proved, name), t.mayChange(name):
		return false
	case len(proved) > 0 && len(t.run.Open.Stories) > 0 && len(t.run.Worked(t.graded.Story)) == 0: // it may be of open work
		return true
	}
	if verdict.IsCreditedElsewhere(t.run, name, t.graded.Story) || t.run.ProvesAnother(t.graded.Story, name) {
		return true
	}
	return slices.ContainsFunc(t.run.EarlierProofs(t.graded.Story), func(proof journal.Proof) bool {
		return slices.ContainsFunc(proof.Checks, func(check journal.CheckEnded) bool { return t.told(check).Of(name) == tally.Passed })
	})
}

func (t *trial) mayChange(name string) bool {
	story, _ := t.run.Plan.Find(t.graded.Story)
	inspected, _ := t.run.InspectionOf(t.proof.Tree)
	return story.MayChangeTests && slices.ContainsFunc(inspected.Shown, func(l journal.Loosened) bool { return l.Kind == testsBroken && slices.Contains(l.Tests, name) })
}

// began returns the run with the code before the story as its base: a new test of what another story made fails on the
// base, too. What proved the same story before is tried on the base. If checks no longer tell which tests fail without the
// story's work, such as by what others built on it, the base is the code before all of it. Bare is the base without the
// story's tests, which people may have pushed.
func (p Prover) began(ctx context.Context, t *trial, files []string) (began journal.Run, bare string, err error) {
	if began = t.run; len(t.run.ProvedBefore(t.graded.Story)) > 0 {
		return began, began.Base, nil
	}
	before, own := t.run.Before(t.graded.Story)
	if began.Base = before; len(own) == 0 {
		return began, before, p.runBare(ctx, t, before)
	}
	with, _ := t.run.ProofAt(before)
	isUnclear := func(check journal.CheckEnded) bool {
		was, found := journal.FindCheck(with.Checks, check.Name)
		return !check.TellsTests() && (!found || was.TellsTests())
	}
	if before, err = t.tests.Without(ctx, before, own); err != nil {
		return began, before, err
	}
	for _, began.Base = range []string{before, own[0].From} {
		if bare, err = p.Tests.Onto(ctx, began, own[0].From, files); err == nil {
			err = p.runBare(ctx, t, bare)
		}
		if err != nil || t.onBase.unready == "" && !slices.ContainsFunc(t.onBare, isUnclear) {
			break
		}
	}
	return began, bare, err
}

// runBare runs the checks on a base without the story's tests, if they did not run there yet.
func (p Prover) runBare(ctx context.Context, t *trial, commit string) (err error) {
	seen := outcome{checks: t.run.BaseChecks}
	switch proof, found := t.run.ProofAt(commit); {
	case found:
		seen.checks = proof.Checks
	case commit != t.run.Base:
		seen, err = p.run(ctx, t.run, Place{Where: journal.AtDoubt, Commit: commit, Number: tryBare}, func(journal.Event) {})
	}
	t.onBare, t.onBase.unready = seen.checks, seen.unready
	return err
}

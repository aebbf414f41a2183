package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Tests finds the tests of a story and puts them where they can fail.
type Tests interface {
	// Of are the files of a story's commits, as they stand in a commit.
	Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	// Touched tells whether a story's commits changed any file but those in which
	// the loop keeps account of itself.
	Touched(ctx context.Context, run journal.Run, story string) (bool, error)
	// Onto is the commit of run's base with some files as another commit has
	// them: the base itself where that is no change.
	Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error)
	// Told are all tests that a check told of, by name; none where that is not
	// known any more.
	Told(check journal.CheckEnded) tally.Tally
}

// mostKept is how many files and names a grade holds.
const (
	mostFiles = 100
	mostNames = 200
)

// Grade tells what it is worth that a story passes: its new and changed tests
// are run on the base code, where they have to fail.
func (p Prover) Grade(ctx context.Context, run journal.Run, step verdict.Grade, emit func(journal.Event)) error {
	graded := journal.StoryGraded{Story: step.Story, Commit: step.Commit, Grade: journal.Unverified}
	at, found := run.ProofOf(step.Tree)
	if !found || at.Empty || !at.Passed {
		graded.Why = "no check could tell"
		emit(p.before(run, journal.Proof{}, graded))
		return nil
	}
	touched, err := p.Tests.Touched(ctx, run, step.Story)
	if err != nil {
		return fmt.Errorf("look for what was done for %s: %w", step.Story, err)
	}
	if !touched {
		graded.Why = "nothing was changed for it"
		emit(p.before(run, at, graded))
		return nil
	}
	files, err := p.Tests.Of(ctx, run, step.Story, step.Commit)
	if err != nil {
		return fmt.Errorf("look for the tests of %s: %w", step.Story, err)
	}
	files = slices.DeleteFunc(files, func(name string) bool { return suite.Of(name) == suite.None })
	t := trial{run: run, proof: at, tests: p.Tests, graded: graded}
	if slices.ContainsFunc(files, func(name string) bool { return suite.Of(name) == suite.Test }) {
		t.graded.Files = files[:min(len(files), mostFiles)]
		if err := p.try(ctx, &t, files, emit); err != nil {
			return fmt.Errorf("grade %s: %w", step.Story, err)
		}
	}
	emit(t.sum())
	return nil
}

// trial is a story's tests on the base code.
type trial struct {
	run    journal.Run
	proof  journal.Proof
	tests  Tests
	graded journal.StoryGraded
	same   bool // they are what the base has
	seen   sight
}

func (p Prover) try(ctx context.Context, t *trial, files []string, emit func(journal.Event)) error {
	stand, err := p.Tests.Onto(ctx, t.run, t.graded.Commit, files)
	if err != nil || stand == t.run.Base {
		t.same = err == nil
		return err
	}
	t.seen, err = p.run(ctx, t.run, Place{Where: journal.AtTests, Commit: t.graded.Commit, Stand: stand, Again: t.doubtful}, emit)
	return err
}

// doubtful tells of a failure on the base code that may be chance: of a test
// that passed there before, or of none by name.
func (t *trial) doubtful(there journal.CheckEnded) bool {
	if there.Passed {
		return false
	}
	base, _ := t.run.AtBase(there.Name)
	fresh := t.fresh(there)
	passed := t.tests.Told(base)
	return len(fresh) == 0 || slices.ContainsFunc(fresh, func(name string) bool { return passed.Of(name) == tally.Passed })
}

// fresh is what fails on the base code with the tests and does not without.
func (t *trial) fresh(there journal.CheckEnded) []string {
	base, _ := t.run.AtBase(there.Name)
	before := base.Tests.Failing()
	return slices.DeleteFunc(there.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) })
}

// sum is the grade.
func (t *trial) sum() journal.StoryGraded {
	graded := t.graded
	names := t.run.Mended(graded.Story, t.proof)
	whole := false
	for _, there := range t.seen.checks {
		turned, is := t.turned(there)
		names = append(names, turned...)
		whole = whole || is
	}
	slices.Sort(names)
	names = slices.Compact(names)
	graded.Tests = names[:min(len(names), mostNames)]
	if len(names) > 0 || whole {
		graded.Grade = journal.RedToGreen
		return graded
	}
	graded.Grade, graded.Why = journal.Unbroken, t.why()
	return graded
}

// why is what keeps a story that passes from more.
func (t *trial) why() string {
	switch {
	case len(t.graded.Files) == 0:
		return "it brought no test"
	case t.same:
		return "its tests are the base's own"
	case t.seen.unready != "":
		return "its tests could not be tried on the base code: " + t.seen.unready
	}
	for _, there := range t.seen.checks {
		switch {
		case there.CannotRun:
			return fmt.Sprintf("its tests could not be tried on the base code: %s cannot run (exit %d)", there.Name, there.Exit)
		case there.TimedOut:
			return "its tests could not be tried on the base code: " + there.Name + " ran out of time"
		case there.Flaky:
			return there.Name + " is flaky on the base code with its tests"
		}
	}
	return "its tests pass without its change, too"
}

// turned are the tests of a check that are red on the base code and green with
// the change, by name; is, without one, that the check as a whole is.
func (t *trial) turned(there journal.CheckEnded) (names []string, is bool) {
	const bySignal = 128
	base, found := t.run.AtBase(there.Name)
	here, proven := find(t.proof.Checks, there.Name)
	switch {
	case !found || !proven || there.Passed || there.TimedOut || there.CannotRun || there.Flaky:
		return nil, false
	case !t.run.Proves(here) || t.run.Holds(here) || base.Tests != nil && base.Tests.Cut:
		return nil, false
	case len(there.Tests.Failing()) == 0:
		return nil, base.Passed && here.Passed && there.Exit <= bySignal
	}
	told := t.tests.Told(here)
	for _, name := range t.fresh(there) {
		if within := t.within(name, there, here); len(within) > 0 {
			names = append(names, within...)
		} else if passes(told, here, name) {
			names = append(names, name)
		}
	}
	return names, false
}

// passes tells whether what failed on the base code passes with the change: by
// name, or by way of all it belongs to where a runner names what fails alone.
func passes(told tally.Tally, here journal.CheckEnded, name string) bool {
	switch told.Of(name) {
	case tally.Passed:
		return true
	case tally.Failed, tally.Broken, tally.Skipped:
		return false
	case tally.Absent:
	}
	if slices.Contains(here.Tests.Failing(), name) {
		return false
	}
	named := told.Names(tally.Passed)
	return told.Passed > len(named) || slices.ContainsFunc(named, func(whole string) bool { return strings.HasPrefix(name, whole) })
}

// within are the tests that pass with the change and belong to what could not
// even be built or loaded without it, as far as no other story brought them.
func (t *trial) within(broken string, there, here journal.CheckEnded) []string {
	if !slices.Contains(there.Tests.Broken, broken) {
		return nil
	}
	base, _ := t.run.AtBase(there.Name)
	before := t.tests.Told(base)
	var names []string
	for _, name := range t.tests.Told(here).Names(tally.Passed) {
		if name != broken && strings.HasPrefix(name, broken) && before.Of(name) == tally.Absent && !t.run.Credited(name, t.graded.Story) {
			names = append(names, name)
		}
	}
	return names
}

func find(checks []journal.CheckEnded, name string) (journal.CheckEnded, bool) {
	at := slices.IndexFunc(checks, func(check journal.CheckEnded) bool { return check.Name == name })
	if at < 0 {
		return journal.CheckEnded{}, false
	}
	return checks[at], true
}

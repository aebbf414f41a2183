package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Tests finds the tests of a story and puts them where they can fail.
type Tests interface {
	// Of are the tests of a story's commits, with what serves them and what they depend on.
	Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	// Touched are the files that a story's commits changed, where the change is still in commit.
	Touched(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	// Onto is the run's base with some files as another commit has them.
	Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error)
	// Told are all tests that a check told of, by name; none if that is not known any more.
	Told(check journal.CheckEnded) tally.Tally
}

const (
	mostFiles = 100
	mostNames = 200
)

// Grade runs a story's new and changed tests on the base code, where they have to fail.
func (p Prover) Grade(ctx context.Context, run journal.Run, step verdict.Grade, emit func(journal.Event)) error {
	graded := journal.StoryGraded{Story: step.Story, Commit: step.Commit, Grade: journal.Unverified}
	touched, err := p.Tests.Touched(ctx, run, step.Story, step.Commit)
	if err != nil {
		return fmt.Errorf("look for what was done for %s: %w", step.Story, err)
	}
	at, found := run.ProofOf(step.Tree)
	if len(touched) == 0 {
		emit(p.idle(run, at, graded))
		return nil
	}
	if !found || at.Empty || !at.Passed {
		graded.Why = "no check could tell"
		emit(graded)
		return nil
	}
	files, err := p.Tests.Of(ctx, run, step.Story, step.Commit)
	if err != nil {
		return fmt.Errorf("look for the tests of %s: %w", step.Story, err)
	}
	t := trial{run: run, proof: at, tests: p.Tests, graded: graded}
	if err := p.show(ctx, &t, files, emit); err != nil {
		return fmt.Errorf("grade %s: %w", step.Story, err)
	}
	turned := t.sum()
	if len(turned.tests) == 0 && turned.whole() && t.shares() {
		if err := p.since(ctx, &t, files); err != nil {
			return fmt.Errorf("grade %s: %w", step.Story, err)
		}
		turned = t.sum()
	}
	emit(t.grade(turned, touched))
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

	narrowed map[string]bool // checks that ran only the story's own test files

	again *sight // the base once more; nil: not tried
	anew  *sight // the same tests on the code that the story began with; nil: not tried
	owned bool   // what turned is another story's
	mute  bool   // it was not seen to pass with the change
}

// show runs a story's tests on the base code, unless the change is of tests alone.
func (p Prover) show(ctx context.Context, t *trial, files []string, emit func(journal.Event)) error {
	if slices.ContainsFunc(files, func(name string) bool { return suite.Of(name) == suite.Test }) {
		t.graded.Files = files[:min(len(files), mostFiles)]
		differing, err := p.Changes.Differing(ctx, t.run, t.run.Base, t.graded.Commit)
		if err != nil || testsAlone(differing) {
			return err
		}
		if err := p.try(ctx, t, files, emit); err != nil {
			return err
		}
	}
	return p.confirm(ctx, t)
}

func (p Prover) try(ctx context.Context, t *trial, files []string, emit func(journal.Event)) error {
	stand, err := p.Tests.Onto(ctx, t.run, t.graded.Commit, files)
	if err != nil || stand == t.run.Base {
		t.same = err == nil
		return err
	}
	at := Place{Where: journal.AtTests, Commit: t.graded.Commit, Stand: stand, Again: t.doubtful}
	if enough, err := p.few(ctx, t, at, files, emit); err != nil || enough {
		return err
	}
	at.Only = func(name string) bool { return !t.narrowed[name] }
	return p.add(ctx, t.run, at, &t.seen, emit)
}

// doubtful tells of a failure on the base code that may be chance: of a test
// that passed there before, or of none by name. Each run is judged by itself.
func (t *trial) doubtful(there journal.CheckEnded) bool {
	there.First = nil
	if there.Passed || there.Skipped != "" {
		return false
	}
	base, _ := t.run.BaseCheck(there.Name)
	fresh := t.fresh(there)
	passed := t.tests.Told(base)
	return len(fresh) == 0 || slices.ContainsFunc(fresh, func(name string) bool { return passed.Of(name) == tally.Passed })
}

// fresh is what fails on the base code only with the tests, in both runs where there are two.
func (t *trial) fresh(there journal.CheckEnded) []string {
	base, _ := t.run.BaseCheck(there.Name)
	before := base.Tests.Failing()
	return slices.DeleteFunc(there.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) || unsteady(there, name) })
}

func (t *trial) grade(turned turned, touched []string) journal.StoryGraded {
	graded := t.graded
	names := slices.Concat(turned.tests, turned.wholes)
	slices.Sort(names)
	names = slices.Compact(names)
	graded.Tests = names[:min(len(names), mostNames)]
	if len(names) > 0 || turned.all {
		graded.Grade = journal.RedToGreen
		return graded
	}
	product := func(name string) bool { return suite.Of(name) == suite.None && !suite.Document(name) }
	switch {
	case !slices.ContainsFunc(touched, func(name string) bool { return !suite.Document(name) }):
		graded.Grade, graded.Why = journal.DocumentsOnly, "no code was changed"
	case !slices.ContainsFunc(touched, product):
		graded.Grade, graded.Why = journal.TestsOnly, "no code was changed"
	default:
		graded.Grade, graded.Why = journal.Unbroken, t.why()
	}
	return graded
}

func (t *trial) why() string {
	switch {
	case t.again != nil:
		return "the failure at the base is flaky: it passes there when run again"
	case len(t.graded.Files) == 0:
		return "it added no test"
	case t.same:
		return "its tests are already in the base"
	case t.seen.unready != "":
		return "its tests could not be tried on the base code: " + t.seen.unready
	}
	green := true
	for _, there := range t.seen.checks {
		if why := untold(there); why != "" {
			return why
		}
		green = green && (there.Passed || there.Skipped != "")
	}
	switch {
	case green:
		return "its tests pass without its change, too"
	case t.owned:
		return "the tests that fail without its change belong to other stories, or existed before"
	case t.mute:
		return "its tests fail on the base code, and did not pass with its change"
	}
	return "none of its tests fails anew on the base code"
}

// untold is why a check tells nothing of tests on the base code; empty: it does.
func untold(there journal.CheckEnded) string {
	const bySignal = 128
	switch {
	case there.CannotRun:
		return fmt.Sprintf("its tests could not be tried on the base code: %s cannot run (exit %d)", there.Name, there.Exit)
	case there.TimedOut:
		return "its tests could not be tried on the base code: " + there.Name + " ran out of time"
	case there.Flaky:
		return there.Name + " is flaky on the base code with its tests"
	case there.Exit > bySignal && len(there.Tests.Failing()) == 0:
		return fmt.Sprintf("its tests could not be tried on the base code: %s was killed (exit %d)", there.Name, there.Exit)
	}
	return ""
}

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

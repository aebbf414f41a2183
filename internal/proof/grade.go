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

// History makes commits that are on no branch.
type History interface {
	// Without returns a commit without some work that is in it. Lines that later work changed, too, are as before both.
	Without(ctx context.Context, commit string, work []journal.CommitsTaken) (string, error)
	// With returns a commit with what others changed later.
	With(ctx context.Context, commit string, others journal.Joined) (string, error)
}

// Tests finds the tests of a story and puts them where they can fail.
type Tests interface {
	// Of returns the tests of a story's commits, with their helpers, data and dependencies.
	Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	// Touched returns the files that a story's commits changed, if commit still has the change.
	Touched(ctx context.Context, run journal.Run, story, commit string) ([]string, error)
	// Onto returns the run's base with some files of another commit.
	Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error)
	History
	// Told returns all tests that a check reported by name.
	Told(check journal.CheckEnded) (tally.Tally, error)
}

const (
	mostFiles = 100
	mostNames = 200
)

// Grade runs a story's new and changed tests on the code without its change, where they must fail: see began. Names and
// texts call that the base code, which it is for the first story.
func (p Prover) Grade(ctx context.Context, run journal.Run, step verdict.Grade, emit func(journal.Event)) error {
	graded := journal.StoryGraded{Story: step.Story, Commit: step.Commit, Grade: journal.Unverified}
	touched, err := p.Tests.Touched(ctx, run, step.Story, step.Commit)
	if err != nil {
		return fmt.Errorf("look for what was done for %s: %w", step.Story, err)
	}
	at, found := run.ProofOf(step.Tree)
	if len(touched) == 0 {
		emit(p.gradeIdle(run, at, graded))
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
	t := trial{records: records{tests: p.Tests}, run: run, proof: at, graded: graded}
	if err := p.tryTests(ctx, &t, files, emit); err != nil {
		return fmt.Errorf("grade %s: %w", step.Story, err)
	}
	emit(t.grade(t.allTurned(), touched))
	return nil
}

// trial is a run of a story's tests on the code without its change.
type trial struct {
	records

	run    journal.Run
	proof  journal.Proof
	graded journal.StoryGraded
	inBase bool // the base has the same tests
	onBase outcome
	onBare []journal.CheckEnded // on the base without the story's tests

	narrowed map[string]bool // checks that ran only the story's own test files

	baseAgain *outcome // the base once more; may be nil
	unpushed  *outcome // what was proven before people pushed; may be nil
	foreign   bool     // a test that turned belongs to another story
	notGreen  bool     // a test that failed on the base did not pass with the change
}

// tryTests runs a story's tests on the base code, unless the change is of tests alone.
func (p Prover) tryTests(ctx context.Context, t *trial, files []string, emit func(journal.Event)) error {
	if slices.ContainsFunc(files, func(name string) bool { return suite.Of(name) == suite.Test }) {
		t.graded.Files = files[:min(len(files), mostFiles)]
		differing, err := p.Changes.Differing(ctx, t.run, t.run.Base, t.graded.Commit)
		if err != nil || testsAlone(differing) {
			return err
		}
		if err := p.tryOnBase(ctx, t, files, emit); err != nil {
			return err
		}
	}
	return p.repeatBase(ctx, t)
}

func (p Prover) tryOnBase(ctx context.Context, t *trial, files []string, emit func(journal.Event)) error {
	began, bare, err := p.began(ctx, t, files)
	if err != nil || t.onBase.unready != "" {
		return err
	}
	stand, err := p.Tests.Onto(ctx, began, t.graded.Commit, files)
	if err != nil || stand == bare {
		t.inBase = err == nil
		return err
	}
	at := Place{Where: journal.AtTests, Commit: t.graded.Commit, Stand: stand, Again: t.mayBeChance}
	if enough, err := p.tryFew(ctx, t, at, files, emit); err != nil || enough {
		return err
	}
	at.Only = func(name string) bool { return !t.narrowed[name] }
	if t.onBase.unready == "" {
		err = p.add(ctx, t.run, at, &t.onBase, emit)
	}
	if err != nil || t.onBase.unready == "" {
		return err
	}
	isTest := func(name string) bool { return suite.Of(name) != suite.None && !suite.Needed(name) } // setup fetches dependencies
	at.Late = slices.DeleteFunc(slices.Clone(files), func(name string) bool { return !isTest(name) })
	if at.Bare, err = p.Tests.Onto(ctx, began, t.graded.Commit, slices.DeleteFunc(slices.Clone(files), isTest)); err != nil {
		return err
	}
	return p.tryLate(ctx, t, at, emit)
}

// tryLate puts the story's tests into the base code after setup. Setup that analyzes or builds them fails before, as they
// name something new. It may have to make something of them, so only what turned counts.
func (p Prover) tryLate(ctx context.Context, t *trial, at Place, emit func(journal.Event)) (err error) {
	at.Number = tryLate
	tried, events := *t, []journal.Event(nil)
	tried.onBase, err = p.run(ctx, t.run, at, func(event journal.Event) { events = append(events, event) })
	if turned := tried.allTurned(); err != nil || len(turned.tests) == 0 && !turned.unnamed() {
		replay(events, t.graded.Add)
		return ctx.Err() // a link, for example, cannot be put there
	}
	t.onBase = tried.onBase
	replay(events, emit)
	return nil
}

func replay(events []journal.Event, emit func(journal.Event)) {
	for _, event := range events {
		emit(event)
	}
}

// before returns a check's result on the base code without the story's tests.
func (t *trial) before(check string) (journal.CheckEnded, bool) {
	if ended, found := journal.FindCheck(t.onBare, check); found {
		return ended, true
	}
	return t.run.BaseCheck(check)
}

// mayBeChance reports whether a failure on the base code may be chance: a test failed that
// passed there before, or none failed by name. Each run is judged by itself.
func (t *trial) mayBeChance(there journal.CheckEnded) bool {
	there.First = nil
	if there.Passed || there.Skipped != "" {
		return false
	}
	base, _ := t.before(there.Name)
	fresh := t.newFailures(there)
	passed := t.told(base)
	return len(fresh) == 0 || slices.ContainsFunc(fresh, func(name string) bool { return passed.Of(name) == tally.Passed })
}

// newFailures returns what fails on the base code only with the story's tests, in both runs if there are two.
func (t *trial) newFailures(there journal.CheckEnded) []string {
	base, _ := t.before(there.Name)
	before := base.Tests.Failing()
	return slices.DeleteFunc(there.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) || unsteady(there, name) })
}

func (t *trial) grade(turned turned, touched []string) journal.StoryGraded {
	graded := t.graded
	if t.unread != nil {
		graded.Why = t.unread.Error()
		return graded
	}
	names := slices.Concat(turned.tests, turned.groups)
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
	case t.baseAgain != nil:
		return "the failure at the base is flaky: it passes there when run again"
	case len(t.graded.Files) == 0:
		return "it added no test"
	case t.inBase:
		return "its tests are already in the base"
	case t.onBase.unready != "":
		return "its tests could not be tried on the base code: " + t.onBase.unready
	}
	green := true
	for _, there := range t.onBase.checks {
		if why := noResult(there); why != "" {
			return why
		}
		green = green && (there.Passed || there.Skipped != "")
	}
	switch {
	case green:
		return "its tests pass without its change, too"
	case t.foreign:
		return "the tests that fail without its change belong to other stories, or existed before"
	case t.notGreen:
		return "its tests fail on the base code, and did not pass with its change"
	}
	return "none of its tests fails anew on the base code"
}

// noResult returns why a check shows nothing about tests on the base code, or "".
func noResult(there journal.CheckEnded) string {
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

// gradeIdle grades a story for which nothing was changed. It holds already if each criterion names a test that passes
// in the proof.
func (p Prover) gradeIdle(run journal.Run, at journal.Proof, graded journal.StoryGraded) journal.StoryGraded {
	story, _ := run.Plan.Find(graded.Story)
	graded.Idle, graded.Why, graded.Sought = true, "nothing was changed for it", story.TestedBy
	green, err := p.green(run, at)
	if err != nil {
		graded.Why = err.Error()
		return graded
	}
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

// green returns the names of all tests that pass in a proof.
func (p Prover) green(run journal.Run, at journal.Proof) ([]string, error) {
	var names []string
	records := records{tests: p.Tests}
	for _, check := range at.Checks {
		if verdict.CanProve(run, check) && !verdict.BlocksStory(run, check) {
			names = append(names, records.told(check).Names(tally.Passed)...)
		}
	}
	return names, records.unread
}

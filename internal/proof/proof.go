// Package proof orders the runs of checks that an agent cannot influence: on
// a clean checkout of the base before the work, and of every commit that may
// count. It reports the results and does not judge them.
package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Prover lends a clean checkout, makes it ready and runs the checks on it.
type Prover struct {
	// Checkout lends a folder that holds commit and nothing else; done gives it back.
	Checkout func(ctx context.Context, run journal.Run, commit string) (dir string, done func(), err error)
	// Setup runs the commands that make a checkout ready, up to the first that fails.
	Setup func(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) error
	Check func(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) error
	// Restore gives commit without its changes of protected files; nil: none are protected.
	Restore func(ctx context.Context, run journal.Run, commit string) (stand string, paths []string, err error)
	Tests   Tests
	Changes Changes
	// Baselines are kept from one run to the next; nil: they are not.
	Baselines Baselines
	// Stand gives a commit as a proof of it has it, with the files of a Standing.
	Stand func(ctx context.Context, run journal.Run, commit string, s Standing) (stand string, err error)
	Ahead *Ahead // nil: nothing runs at the same time.

	seek func(Place) error // asks only where checks would run
}

// Place is where checks run.
type Place struct {
	Where  journal.Where
	Dir    string
	Commit string
	Stand  string // the commit that is checked out in its place; empty: none is
	// Again tells whether a check is run once more, in a new checkout; nil: none is.
	Again func(journal.CheckEnded) bool
	// Only names the checks that run; nil: all. Second: they run because of Again.
	Only   func(check string) bool
	Second bool
	// Commands are those of checks, by name, that do not run as the policy has them.
	Commands map[string]string
	Ask      func(check string) []string // names the tests of a check whose outcome has to be known; nil: none.
	// judges tells that what fails holds a story back: that the failed tests fail once
	// more among fewer is enough for that, and would not be enough to show anything.
	judges bool
	Number int // tells places of one kind and commit apart in the names of logs.
}

// judged has blocking checks run once more, and asks for the tests that failed at the base.
func (at Place) judged(run journal.Run) Place {
	at.judges, at.Again = true, func(check journal.CheckEnded) bool { return verdict.BlocksStory(run, check) }
	at.Ask = func(name string) []string { return verdict.FailedAtBase(run, name) }
	return at
}

// Skips tells whether a check is limited to paths of which a change touches none.
func Skips(check policy.Check, changed []string) bool {
	for glob := range strings.FieldsSeq(check.Paths) {
		for _, name := range changed {
			if touched, err := doublestar.Match(glob, name); touched || err != nil {
				return false
			}
		}
	}
	return check.Paths != ""
}

// Baseline runs the checks before any work, and tells whether one can prove something later.
func (p Prover) Baseline(ctx context.Context, run journal.Run, _ verdict.Baseline, emit func(journal.Event)) error {
	if len(run.Policy.Checks) == 0 {
		emit(journal.BaselineEnded{Why: "no checks are configured"})
		return nil
	}
	seen, err := p.atBase(ctx, run, emit)
	if err != nil {
		return fmt.Errorf("check the base: %w", err)
	}
	emit(baseline(run.Policy, seen))
	return nil
}

// Baselines keeps how checks ended at a base for later runs.
type Baselines interface {
	// Known are the checks as they ended at a run's base; none if that is not known. With
	// caches, those that setup and the checks filled there are at hand, too.
	Known(ctx context.Context, run journal.Run) (checks []journal.CheckEnded, caches bool)
	Keep(ctx context.Context, run journal.Run, checks []journal.CheckEnded)
}

// known is what an earlier run saw at the base; without checks nothing is known. Where
// no caches came with it, setup runs: later proofs begin with what it fetches.
func (p Prover) known(ctx context.Context, run journal.Run, emit func(journal.Event)) (seen sight, err error) {
	if p.Baselines == nil {
		return seen, nil
	}
	known, caches := p.Baselines.Known(ctx, run)
	if len(known) == 0 {
		return seen, nil
	}
	if !caches && len(run.Policy.Setup) > 0 {
		none := func(string) bool { return false }
		seen, err = p.run(ctx, run, Place{Where: journal.AtBase, Commit: run.Base, Only: none}, emit)
		if err != nil || seen.unready != "" {
			return seen, err
		}
	}
	emit(journal.Noted{What: "the checks did not run again at the base: they passed there before, with the same setup, programs and environment"})
	for _, check := range known {
		check.TookMS = 0
		emit(check)
	}
	seen.checks = known
	return seen, nil
}

// atBase is what the checks say at the base. Only a base where all of them pass is
// kept for later: another may be red for a reason that is gone by then. So is none where
// something else has to be said of the checks.
func (p Prover) atBase(ctx context.Context, run journal.Run, emit func(journal.Event)) (sight, error) {
	if seen, err := p.known(ctx, run, emit); err != nil || seen.unready != "" || len(seen.checks) > 0 {
		return seen, err
	}
	sound := true
	seen, err := p.run(ctx, run, Place{Where: journal.AtBase, Commit: run.Base}, func(event journal.Event) {
		if _, noted := event.(journal.Noted); noted {
			sound = false
		}
		emit(event)
	})
	red := slices.ContainsFunc(seen.checks, func(check journal.CheckEnded) bool { return !check.Passed })
	if p.Baselines != nil && err == nil && sound && seen.unready == "" && !red {
		p.Baselines.Keep(ctx, run, seen.checks)
	}
	return seen, err
}

// baseline sums up what was seen at the base. Checks of a checkout that could
// not be made ready were not run, and none of them can prove anything later.
func baseline(p policy.Policy, seen sight) journal.BaselineEnded {
	if seen.unready != "" {
		return journal.BaselineEnded{Why: seen.unready}
	}
	var odd []string
	green := 0 // or partly so, as far as its output tells
	for _, check := range seen.checks {
		switch {
		// The author of an added check could have written one that always passes.
		case (check.Passed || check.HasNamedFailures()) && p.CheckNamed(check.Name).Added:
			odd = append(odd, fmt.Sprintf("%s was named by the task itself and proves nothing", check.Name))
		case check.Passed:
			green++
		case check.HasNamedFailures():
			green++
			odd = append(odd, fmt.Sprintf("%s was red before (exit %d): %s", check.Name, check.Exit, check.Tests.FailureList()))
		case check.TimedOut:
			odd = append(odd, fmt.Sprintf("%s ran out of time at the base", check.Name))
		case check.CannotRun:
			odd = append(odd, fmt.Sprintf("%s cannot run here (exit %d)", check.Name, check.Exit))
		default:
			odd = append(odd, fmt.Sprintf("%s was red before (exit %d)", check.Name, check.Exit))
		}
	}
	return journal.BaselineEnded{Usable: green > 0, Why: strings.Join(odd, "; ")}
}

// Prove runs the checks on a clean checkout of a commit, and one that holds it
// back once more: chance must not decide, nor go unseen. The proof of a tree
// that was proven before, by the same checks after the same setup, is reused,
// and said to be.
func (p Prover) Prove(ctx context.Context, run journal.Run, step verdict.Prove, emit func(journal.Event)) error {
	ended := journal.ProofEnded{Commit: step.Commit, Tree: step.Tree}
	if old, found := run.ProofOf(step.Tree); found && old.Passed {
		ended.Passed, ended.Empty, ended.Why, ended.Reused = true, old.Empty, old.Why, true
		emit(ended)
		return nil
	}
	at := Place{Where: journal.AtProof, Commit: step.Commit}.judged(run)
	var err error
	if at.Stand, ended.Restored, err = p.restore(ctx, run, step.Commit); err != nil {
		return fmt.Errorf("prove %s: %w", step.Commit, err)
	}
	p.ahead(ctx, run, step)
	seen, err := p.run(ctx, run, at, emit)
	if err != nil {
		p.Ahead.drop()
		return fmt.Errorf("prove %s: %w", step.Commit, err)
	}
	if ended = sum(ended, run, seen); ended.Passed {
		p.Ahead.wait()
	} else {
		p.Ahead.drop()
	}
	emit(ended)
	return nil
}

// restore is the commit to check out instead of one that changed protected files, and these files.
func (p Prover) restore(ctx context.Context, run journal.Run, commit string) (stand string, paths []string, err error) {
	if p.Restore == nil {
		return "", nil, nil
	}
	stand, paths, err = p.Restore(ctx, run, commit)
	return stand, paths[:min(len(paths), mostFiles)], err
}

// sum grades a proof. A check that was not green at the base neither blocks nor
// proves anything. A checkout that cannot be set up always blocks: the commit
// was not seen to work.
func sum(ended journal.ProofEnded, run journal.Run, seen sight) journal.ProofEnded {
	ended.Empty = run.Baseline == nil || !run.Baseline.Usable
	if seen.unready != "" {
		ended.Why = seen.unready
		return ended
	}
	var red []string
	for _, check := range seen.checks {
		if verdict.BlocksStory(run, check) {
			red = append(red, failure(run, check))
		}
	}
	ended.Passed = verdict.IsGreen(run, seen.checks)
	if !ended.Passed && red == nil {
		red = append(red, "not every check was run")
	}
	ended.Why = strings.Join(red, ", ")
	if !ended.Passed && len(ended.Restored) > 0 {
		ended.Why += ", with " + journal.ShortList(ended.Restored) + " as the base has it"
	}
	if ended.Passed {
		ended.Why = worth(&ended, run, seen)
	}
	return ended
}

// worth is what has to be known of a proof that passed: what was red before, and
// what chance had a hand in. One in which no test is known to pass is empty.
func worth(ended *journal.ProofEnded, run journal.Run, seen sight) string {
	var known []string
	if run.Baseline != nil && run.Baseline.Why != "" {
		known = append(known, run.Baseline.Why)
	}
	if !ended.Empty && !slices.ContainsFunc(seen.checks, func(c journal.CheckEnded) bool { return verdict.CanProve(run, c) }) {
		ended.Empty = true
		known = append(known, "no test is known to pass")
	}
	for _, check := range seen.checks {
		if check.Skipped != "" {
			known = append(known, fmt.Sprintf("%s was skipped: nothing in %s is changed", check.Name, check.Skipped))
		}
		if check.Flaky {
			known = append(known, flaky(check))
		}
	}
	return strings.Join(known, "; ")
}

func flaky(check journal.CheckEnded) string {
	if check.Passed {
		return fmt.Sprintf("%s is flaky: it failed first (exit %d) and not when it was run again", check.Name, check.FirstExit())
	}
	return check.Name + " is flaky: it failed twice, and no test failed anew in both runs"
}

func failure(run journal.Run, check journal.CheckEnded) string {
	if check.TimedOut {
		return check.Name + " ran out of time"
	}
	text := fmt.Sprintf("%s failed (exit %d)", check.Name, check.Exit)
	if fresh := verdict.NewFailures(run, check); len(fresh) > 0 {
		text += ", new: " + journal.ShortList(fresh)
	}
	return text
}

// Package proof runs checks where an agent cannot influence them: on clean
// checkouts of the base, and of each commit that may count. It reports what
// passed, which existing tests fail, and which new tests went from red to green.
// verdict decides what follows.
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

// Prover gets a clean checkout, sets it up and runs the checks in it.
type Prover struct {
	// Checkout returns a folder that contains only a commit. The caller runs done when it is finished.
	Checkout func(ctx context.Context, run journal.Run, commit string) (dir string, done func(), err error)
	// Setup runs the setup commands, up to the first that fails.
	Setup func(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) error
	Check func(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) error
	// Restore returns a commit without the changes of protected files. May be nil.
	Restore func(ctx context.Context, run journal.Run, commit string) (stand string, paths []string, err error)
	Tests   Tests
	Changes Changes
	// Baselines are kept for later runs. May be nil.
	Baselines Baselines
	// Stand returns a commit as its proof has it, with the files of a Standing.
	Stand func(ctx context.Context, run journal.Run, commit string, s Standing) (stand string, err error)
	Ahead *Ahead // may be nil

	probe func(Place) error // gets the place where checks would run, and none run
}

// Place is where checks run.
type Place struct {
	Where  journal.Where
	Dir    string
	Commit string
	Stand  string // checked out instead of Commit; may be empty
	// Bare is Stand without the files of Late, which get into its checkout after setup. Both may be empty.
	Bare string
	Late []string
	// Again reports whether a check runs once more, in a new checkout. May be nil.
	Again func(journal.CheckEnded) bool
	// Only reports whether a check runs. If it is nil, all do. Second is set when checks run because of Again.
	Only   func(check string) bool
	Second bool
	// Commands replace the policy's commands of checks, by name.
	Commands map[string]string
	Ask      func(check string) []string // returns the tests of a check whose outcome is recorded by name; may be nil
	// judges is set if a failure holds a story back. Then it is enough to repeat the
	// files of the failed tests. To show that something works, all tests would have to run.
	judges bool
	Number int // for the names of logs: unique for a kind of place and a commit
}

// judged repeats checks that block the story, and records the tests that failed at the base.
func (at Place) judged(run journal.Run) Place {
	at.judges, at.Again = true, func(check journal.CheckEnded) bool { return verdict.BlocksStory(run, check) }
	at.Ask = func(name string) []string { return verdict.FailedAtBase(run, name) }
	return at
}

// Skips reports whether a check is limited to paths, and the change touches none of them.
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

// Baseline runs the checks at the base, and reports whether they can prove something later.
func (p Prover) Baseline(ctx context.Context, run journal.Run, _ verdict.Baseline, emit func(journal.Event)) error {
	if len(run.Policy.Checks) == 0 {
		emit(journal.BaselineEnded{Why: "no checks are configured"})
		return nil
	}
	seen, err := p.atBase(ctx, run, emit)
	if err != nil {
		return fmt.Errorf("check the base: %w", err)
	}
	emit(sumUpBase(run.Policy, seen))
	return nil
}

// Baselines keeps the results of checks at a base for later runs.
type Baselines interface {
	// Known returns the results of the checks at a run's base, if they were kept.
	Known(run journal.Run) []journal.CheckEnded
	Keep(ctx context.Context, run journal.Run, checks []journal.CheckEnded)
}

// keptBaseline returns what an earlier run kept of the base.
func (p Prover) keptBaseline(run journal.Run, emit func(journal.Event)) []journal.CheckEnded {
	if p.Baselines == nil {
		return nil
	}
	known := p.Baselines.Known(run)
	if len(known) == 0 {
		return nil
	}
	emit(journal.Noted{What: "the checks did not run again at the base: they passed there before, with the same setup, programs and environment"})
	for _, check := range known {
		check.TookMS = 0
		emit(check)
	}
	return known
}

// atBase returns the results at the base. They are kept only if all checks passed and none
// caused a note: a failure may have a reason that a later run does not have.
func (p Prover) atBase(ctx context.Context, run journal.Run, emit func(journal.Event)) (outcome, error) {
	if known := p.keptBaseline(run, emit); len(known) > 0 {
		return outcome{checks: known}, nil
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

// sumUpBase reports whether a check can prove something later. If setup failed, no check
// ran and none can.
func sumUpBase(p policy.Policy, seen outcome) journal.BaselineEnded {
	if seen.unready != "" {
		return journal.BaselineEnded{Why: seen.unready}
	}
	var odd []string
	green := 0 // also those with failures by name
	for _, check := range seen.checks {
		switch {
		// The author of the task can name a check that always passes.
		case (check.Passed || check.HasNamedFailures()) && p.CheckNamed(check.Name).Added:
			odd = append(odd, fmt.Sprintf("%s was named by the task itself and proves nothing", check.Name))
		case check.Passed:
			green++
		case check.HasNamedFailures():
			green++
			odd = append(odd, fmt.Sprintf("%s was red before (exit %d): %s", check.Name, check.Exit, check.Tests.FailureList()))
		case check.TimedOut:
			odd = append(odd, fmt.Sprintf("%s ran out of time at the base", check.Name))
		case check.NoFile != "":
			odd = append(odd, fmt.Sprintf("%s was red before (exit %d): %s does not exist yet", check.Name, check.Exit, check.NoFile))
		case check.CannotRun:
			odd = append(odd, fmt.Sprintf("%s cannot run here (exit %d)", check.Name, check.Exit))
		default:
			odd = append(odd, fmt.Sprintf("%s was red before (exit %d)", check.Name, check.Exit))
		}
	}
	return journal.BaselineEnded{Usable: green > 0, Why: strings.Join(odd, "; ")}
}

// Prove runs the checks on a clean checkout of a commit. A check that blocks the
// commit runs twice, so that chance does not decide and is seen. If the tree has
// a proof by the same checks and setup, that is used again.
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
	if ended = sumUpProof(ended, run, seen); ended.Passed {
		p.Ahead.wait()
	} else {
		p.Ahead.drop()
	}
	emit(ended)
	return nil
}

// restore returns the commit to check out if a commit changed protected files, and these files.
func (p Prover) restore(ctx context.Context, run journal.Run, commit string) (stand string, paths []string, err error) {
	if p.Restore == nil {
		return "", nil, nil
	}
	stand, paths, err = p.Restore(ctx, run, commit)
	return stand, paths[:min(len(paths), mostFiles)], err
}

// sumUpProof decides whether a proof passed. A check that was red at the base neither blocks
// nor proves anything. If setup fails, the proof fails.
func sumUpProof(ended journal.ProofEnded, run journal.Run, seen outcome) journal.ProofEnded {
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
		ended.Why = remarks(&ended, run, seen)
	}
	return ended
}

// remarks describes what was red before, skipped or flaky in a proof that passed. A proof
// in which no test is known to pass is empty.
func remarks(ended *journal.ProofEnded, run journal.Run, seen outcome) string {
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
		return fmt.Sprintf("%s is flaky: it failed first (exit %d) and passed when run again", check.Name, check.FirstExit())
	}
	return check.Name + " is flaky: it failed twice, and no new failure occurred in both runs"
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

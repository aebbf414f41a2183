package proof

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Baselines keeps the results of checks at a base for later runs.
type Baselines interface {
	// Known returns the results of the checks at a run's base, if they were kept.
	Known(run journal.Run) []journal.CheckEnded
	Keep(ctx context.Context, run journal.Run, checks []journal.CheckEnded)
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

// atBase returns the results at the base. They are kept only if all checks passed and none
// caused a note: a failure may have a reason that a later run does not have.
func (p Prover) atBase(ctx context.Context, run journal.Run, emit func(journal.Event)) (Outcome, error) {
	if known := p.keptBaseline(run, emit); len(known) > 0 {
		return Outcome{Checks: known}, nil
	}
	noted := false
	at := Place{Where: journal.AtBase, Commit: run.Base, Checkout: run.Base}
	seen, err := p.repeated(ctx, run, at, failed, func(event journal.Event) {
		if _, ok := event.(journal.Noted); ok {
			noted = true
		}
		emit(event)
	})
	if err != nil || p.Baselines == nil {
		return seen, err
	}
	if noted || seen.Unready != "" || slices.ContainsFunc(seen.Checks, failed) {
		return seen, nil
	}
	p.Baselines.Keep(ctx, run, seen.Checks)
	return seen, nil
}

func failed(check journal.CheckEnded) bool {
	return !check.Passed && check.Skipped == "" && !check.CannotRun
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
	emit(journal.Noted{What: "the checks did not run again at the base: they passed there before, " +
		"with the same setup, programs and environment"})
	for _, check := range known {
		check.TookMS = 0
		emit(check)
	}
	return known
}

// sumUpBase reports whether a check can prove something later. If setup failed, no check ran and none can.
func sumUpBase(p policy.Policy, seen Outcome) journal.BaselineEnded {
	if seen.Unready != "" {
		return journal.BaselineEnded{Why: seen.Unready}
	}
	var odd []string
	usable := false
	for _, check := range seen.Checks {
		if text := whyOdd(p, check); text != "" {
			odd = append(odd, text)
		}
		if isUsable(p, check) {
			usable = true
		}
	}
	return journal.BaselineEnded{Usable: usable, Why: strings.Join(odd, "; ")}
}

// isUsable reports whether a result at the base can prove something later. The author of the task can name a check that
// always passes.
func isUsable(p policy.Policy, check journal.CheckEnded) bool {
	return canBeCompared(check) && !p.CheckNamed(check.Name).Added
}

// whyOdd returns why a check at the base can prove less than others; empty: it cannot.
func whyOdd(p policy.Policy, check journal.CheckEnded) string {
	added := p.CheckNamed(check.Name).Added
	switch {
	case check.Passed && !added:
		return ""
	case added && canBeCompared(check):
		return check.Name + " was named by the task itself and proves nothing"
	case check.HasNamedFailures():
		return fmt.Sprintf("%s was red before (exit %d): %s", check.Name, check.Exit, check.Tests.FailureList())
	case check.TimedOut:
		return check.Name + " ran out of time at the base"
	case check.NoFile != "":
		return fmt.Sprintf("%s was red before (exit %d): %s does not exist yet", check.Name, check.Exit, check.NoFile)
	case check.CannotRun:
		return fmt.Sprintf("%s cannot run here (exit %d)", check.Name, check.Exit)
	}
	return fmt.Sprintf("%s was red before (exit %d)", check.Name, check.Exit)
}

// canBeCompared reports whether a later run of a check can be compared with this one: it passed, or names what failed.
func canBeCompared(check journal.CheckEnded) bool { return check.Passed || check.HasNamedFailures() }

// runBase finds the results at the base of the proof: those of the run's base, those of the proof of that commit, or
// new ones.
func (t *trial) runBase(ctx context.Context) error {
	if t.proof.Base == t.run.Base {
		t.baseChecks = t.run.BaseChecks
		if t.run.Baseline != nil && !t.run.Baseline.Usable {
			t.unusable = t.run.Baseline.Why
		}
		if len(t.baseChecks) == 0 {
			t.end(journal.Unknown, cmp.Or(t.unusable, "no check ran at the base"))
		}
		return nil
	}
	for _, earlier := range slices.Backward(t.run.Proofs) {
		if earlier.Commit == t.proof.Base && len(earlier.Checks.Head) > 0 {
			t.baseChecks = t.withoutSkipped(earlier.Checks.Head)
			return nil
		}
	}
	at := Place{Where: journal.AtBase, Commit: t.proof.Base, Checkout: t.proof.Base}
	seen, err := t.repeated(ctx, t.run, at, failed, t.count)
	if err != nil {
		return err
	}
	t.baseChecks = seen.Checks
	ended := sumUpBase(t.run.Policy, seen)
	if !ended.Usable { // the checks still have to pass, as at the run's base
		t.baseChecks = t.run.BaseChecks
		t.unusable = "at the head before the story: " + ended.Why
	}
	if len(t.baseChecks) == 0 {
		t.end(journal.Unknown, t.unusable)
	}
	return nil
}

// withoutSkipped returns results with those of the run's base for the checks that were skipped: nothing that they
// concern was changed until then.
func (t *trial) withoutSkipped(checks []journal.CheckEnded) []journal.CheckEnded {
	var all []journal.CheckEnded
	for _, check := range checks {
		baseCheck, found := t.run.BaseCheck(check.Name)
		if found && check.Skipped != "" {
			check = baseCheck
		}
		all = append(all, check)
	}
	return all
}

// count emits an event, and counts the runs of checks.
func (t *trial) count(event journal.Event) {
	t.countOnly(event)
	t.emit(event)
}

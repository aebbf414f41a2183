// Package proof runs the checks where the agent's hand cannot reach: on a
// clean checkout of the base before the work, and of every commit that is to
// count. It judges nothing; it reports what each check said.
package proof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Prover lends a clean checkout and runs the checks on it.
type Prover struct {
	// Checkout lends a folder that holds commit and nothing else; done gives
	// it back.
	Checkout func(ctx context.Context, commit string) (dir string, done func(), err error)
	// Check runs every check of the run's policy in dir.
	Check func(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) error
}

// Place is where checks run.
type Place struct {
	Where  journal.Where
	Dir    string
	Commit string
}

// Baseline tells what each check says before any work is done, and whether
// any of them can prove something later.
func (p Prover) Baseline(ctx context.Context, run journal.Run, _ verdict.Baseline, emit func(journal.Event)) error {
	if len(run.Policy.Checks) == 0 {
		emit(journal.BaselineEnded{Why: "no checks are configured"})
		return nil
	}
	checks, err := p.run(ctx, run, Place{Where: journal.AtBase, Commit: run.Base}, emit)
	if err != nil {
		return fmt.Errorf("check the base: %w", err)
	}
	emit(baseline(run.Policy, checks))
	return nil
}

// baseline sums up what was seen at the base.
func baseline(p policy.Policy, checks []journal.CheckEnded) journal.BaselineEnded {
	var odd []string
	green := 0
	for _, check := range checks {
		switch {
		case check.Passed && added(p, check.Name):
			odd = append(odd, fmt.Sprintf("%s was named by the task itself and proves nothing", check.Name))
		case check.Passed:
			green++
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

// added tells whether a check is one that the task brought along: whoever wrote
// it could have written one that always passes.
func added(p policy.Policy, name string) bool {
	return slices.ContainsFunc(p.Checks, func(check policy.Check) bool { return check.Name == name && check.Added })
}

// Prove runs the checks on a clean checkout of a commit. The proof of a tree
// that was proven before is reused, and said to be.
func (p Prover) Prove(ctx context.Context, run journal.Run, step verdict.Prove, emit func(journal.Event)) error {
	ended := journal.ProofEnded{Commit: step.Commit, Tree: step.Tree}
	if old, found := run.ProofOf(step.Tree); found && old.Passed {
		ended.Passed, ended.Empty, ended.Why, ended.Reused = true, old.Empty, old.Why, true
		emit(ended)
		return nil
	}
	checks, err := p.run(ctx, run, Place{Where: journal.AtProof, Commit: step.Commit}, emit)
	if err != nil {
		return fmt.Errorf("prove %s: %w", step.Commit, err)
	}
	emit(sum(ended, run, checks))
	return nil
}

// sum tells what a proof is worth. Checks that were not green at the base hold
// nothing back, and prove nothing either.
func sum(ended journal.ProofEnded, run journal.Run, checks []journal.CheckEnded) journal.ProofEnded {
	var red []string
	for _, check := range checks {
		if !check.Passed && run.Blocks(check.Name) {
			red = append(red, failure(check))
		}
	}
	ended.Passed = run.Green(checks)
	if !ended.Passed && red == nil {
		red = append(red, "not every check was run")
	}
	ended.Empty = run.Baseline == nil || !run.Baseline.Usable
	ended.Why = strings.Join(red, ", ")
	if ended.Passed && run.Baseline != nil {
		ended.Why = run.Baseline.Why
	}
	return ended
}

func failure(check journal.CheckEnded) string {
	if check.TimedOut {
		return check.Name + " ran out of time"
	}
	return fmt.Sprintf("%s failed (exit %d)", check.Name, check.Exit)
}

// run lends a checkout for the length of the checks and remembers what they
// said.
func (p Prover) run(ctx context.Context, run journal.Run, at Place, emit func(journal.Event)) ([]journal.CheckEnded, error) {
	dir, done, err := p.Checkout(ctx, at.Commit)
	if err != nil {
		return nil, err
	}
	defer done()
	at.Dir = dir
	var checks []journal.CheckEnded
	err = p.Check(ctx, run, at, func(event journal.Event) {
		if check, is := event.(journal.CheckEnded); is {
			checks = append(checks, check)
		}
		emit(event)
	})
	return checks, err
}

package checkout

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Rules makes a policy from the files of the base. file returns nil for a missing one.
type Rules func(file func(name string) []byte) (policy.Policy, error)

const whole = "change" // the only story of a change, because no claim divides it

// Prove proves the change between two commits, from their common commit, with the checks
// of that base. The tests that the change adds or changes must go from red to green.
func (v *Verifier) Prove(ctx context.Context, project string, span git.Span, rules Rules) (journal.Run, error) {
	if err := v.prepare(ctx, project); err != nil {
		return v.run, err
	}
	base, err := v.trusted.MergeBase(ctx, span)
	if err != nil {
		return v.run, fault.Usage(fmt.Sprintf("%.12s and %.12s have no common commit", span.From, span.To), "fetch more of the history: git fetch --unshallow", err)
	}
	if base == span.To {
		hint := "commit the change"
		if _, err := v.trusted.Resolve(ctx, span.To+"^"); err == nil {
			hint += ", or name an earlier commit as the base: ralph prove HEAD~1"
		}
		return v.run, fault.Usage(fmt.Sprintf("nothing to prove: %.12s is part of the base", span.To), hint, nil)
	}
	if err := v.readRules(ctx, base, rules); err != nil {
		return v.run, err
	}
	v.run.Start, v.run.Head = base, span.To
	if err := bounded(ctx, v.trusted, span.To); err != nil {
		return v.run, err
	}
	if v.run.Tree, err = v.trusted.TreeOf(ctx, span.To); err != nil {
		return v.run, err
	}
	v.run.Plan.UserStories = []plan.Story{{ID: whole, Title: "the change", Passes: true}}
	err = v.steps(ctx, v.checkouts.Prover(change{trusted: v.trusted}))
	return v.run, err
}

// bounded refuses a commit that would fill memory and disk: a few objects can describe many files.
func bounded(ctx context.Context, trusted *git.Trusted, commit string) error {
	if _, err := trusted.TreeOf(ctx, commit); err != nil {
		return err
	}
	_, err := trusted.Do(ctx, git.Call{Args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", commit}, Limit: mostListed, Memory: git.MaxMemory})
	if failed, is := git.Answered(err); is && failed.TooLong {
		return fault.Usage(fmt.Sprintf("%.12s has more files than can be proven", commit), "the list of their names may have 64 MiB", err)
	}
	return err
}

func (v *Verifier) readRules(ctx context.Context, base string, rules Rules) error {
	files := reader{ctx: ctx, trusted: v.trusted, commit: base}
	p, err := rules(files.file)
	if err == nil {
		err = files.err
	}
	if err != nil {
		return err
	}
	return v.survey(ctx, base, p)
}

// steps runs the steps of a proof, until one fails.
func (v *Verifier) steps(ctx context.Context, prover proof.Prover) error {
	if err := prover.Baseline(ctx, v.run, verdict.Baseline{}, v.emit); err != nil {
		return err
	}
	if !v.run.Baseline.Usable {
		return nil
	}
	at := verdict.Prove{Commit: v.run.Head, Tree: v.run.Tree}
	if err := prover.Prove(ctx, v.run, at, v.emit); err != nil {
		return err
	}
	if proven, _ := v.run.ProofOf(v.run.Tree); !proven.Passed {
		return nil
	}
	if err := prover.Inspect(ctx, v.run, verdict.Inspect(at), v.emit); err != nil {
		return err
	}
	return prover.Grade(ctx, v.run, verdict.Grade{Story: whole, Commit: at.Commit, Tree: at.Tree}, v.emit)
}

// change implements Stories for a change without stories: all that it touches.
type change struct {
	noWork

	trusted *git.Trusted
}

// Of returns the tests that the change adds or changes, with their helpers and data.
func (c change) Of(ctx context.Context, run journal.Run, _, commit string) ([]string, error) {
	files, err := c.trusted.ChangedFiles(ctx, git.Span{From: run.Base, To: commit})
	if err != nil {
		return nil, err
	}
	return Testing(ctx, c.trusted, run, commit, files)
}

// Touched returns all files that the change touches.
func (c change) Touched(ctx context.Context, run journal.Run, _, commit string) ([]string, error) {
	return Touched(ctx, c.trusted, run, []git.Span{{From: run.Base, To: commit}})
}

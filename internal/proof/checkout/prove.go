package checkout

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Rules makes a policy from the files of the base. file returns nil for a missing one.
type Rules func(file func(name string) []byte) (policy.Policy, error)

// Prove proves the change between two commits, from their common commit, with the checks
// of that base. The tests that the change adds or changes must fail without it.
func (v *Verifier) Prove(ctx context.Context, project string, span git.Span, rules Rules) (journal.Run, error) {
	if err := v.prepare(ctx, project); err != nil {
		return v.run, err
	}
	base, err := v.trusted.MergeBase(ctx, span)
	if err != nil {
		what := fmt.Sprintf("%.12s and %.12s have no common commit", span.From, span.To)
		return v.run, fault.Usage(what, "fetch more of the history: git fetch --unshallow", err)
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
	v.run.Start = base
	v.run.Head = span.To
	if err := bounded(ctx, v.trusted, span.To); err != nil {
		return v.run, err
	}
	v.run.Tree, err = v.trusted.TreeOf(ctx, span.To)
	if err != nil {
		return v.run, err
	}
	prover := v.checkouts.Prover()
	err = prover.Baseline(ctx, v.run, verdict.Baseline{}, v.emit)
	if err != nil || !v.run.Baseline.Usable {
		return v.run, err
	}
	err = prover.Prove(ctx, v.run, verdict.Prove{Commit: v.run.Head, Tree: v.run.Tree}, v.emit)
	return v.run, err
}

const mostListed = 64 << 20

// bounded refuses a commit that would fill memory and disk: a few objects can describe many files.
func bounded(ctx context.Context, trusted *git.Trusted, commit string) error {
	if _, err := trusted.TreeOf(ctx, commit); err != nil {
		return err
	}
	_, err := trusted.Do(ctx, git.Call{
		Args:   []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", commit},
		Limit:  mostListed,
		Memory: git.MaxMemory,
	})
	failed, ok := git.Answered(err)
	if ok && failed.TooLong {
		what := fmt.Sprintf("%.12s has more files than can be proven", commit)
		return fault.Usage(what, "the list of their names may have 64 MiB", err)
	}
	return err
}

func (v *Verifier) readRules(ctx context.Context, base string, rules Rules) error {
	files := v.checkouts.reader(ctx, base)
	p, err := rules(files.file)
	if err != nil {
		return err
	}
	if files.err != nil {
		return files.err
	}
	return v.survey(ctx, base, p)
}

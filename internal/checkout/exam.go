package checkout

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Exam is a commit that is judged by the tests of another commit, Tests, which its author
// did not see. Both are based on Base, whose checks run.
type Exam struct{ Base, Commit, Tests string }

// Answer is the result of a check on a commit with the tests of another one.
type Answer struct {
	Check   string
	Passed  bool
	Passing []string // tests, by name
}

// Exam runs the checks on a commit with the tests of another one in place of its own changes
// of tests. Unready says why they could not run.
func (v *Verifier) Exam(ctx context.Context, project string, e Exam, rules Rules) (answers []Answer, unready string, err error) {
	if err := v.prepare(ctx, project); err != nil {
		return nil, "", err
	}
	if err := v.readRules(ctx, e.Base, rules); err != nil {
		return nil, "", err
	}
	for _, commit := range []string{e.Commit, e.Tests} {
		if err := bounded(ctx, v.trusted, commit); err != nil {
			return nil, "", err
		}
	}
	stand, err := v.withTests(ctx, e)
	if err != nil {
		return nil, "", err
	}
	v.run = journal.Run{Base: stand, Policy: v.run.Policy}
	prover := v.checkouts.Prover(nil)
	if err := prover.Baseline(ctx, v.run, verdict.Baseline{}, v.emit); err != nil {
		return nil, "", err
	}
	for _, check := range v.run.BaseChecks {
		told, err := prover.Tests.Told(check)
		if err != nil {
			return nil, "", err
		}
		answers = append(answers, Answer{check.Name, check.Passed, told.Names(tally.Passed)})
	}
	if len(answers) == 0 {
		unready = v.run.Baseline.Why
	}
	return answers, unready, nil
}

// withTests returns the commit with the other one's tests and the base's check definitions.
func (v *Verifier) withTests(ctx context.Context, e Exam) (string, error) {
	stand, _, err := v.checkouts.restore(ctx, v.run, e.Commit)
	if err != nil {
		return "", err
	}
	var files []string
	for _, commit := range []string{e.Commit, e.Tests} {
		touched, err := v.trusted.ChangedPaths(ctx, git.Span{From: e.Base, To: commit})
		if err != nil {
			return "", err
		}
		files = append(files, touched...)
	}
	tests, err := Testing(ctx, v.trusted, v.run, e.Tests, files)
	if err != nil {
		return "", fmt.Errorf("look for the tests of %.12s: %w", e.Tests, err)
	}
	return v.trusted.Overlay(ctx, git.Overlay{Onto: cmp.Or(stand, e.Commit), From: e.Tests, Paths: slices.Compact(tests)})
}

package checkout

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/proof/proof"
	"github.com/ralph-loop/ralph/internal/proof/results"
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
	if err := v.checkouts.Prover().Baseline(ctx, v.run, verdict.Baseline{}, v.emit); err != nil {
		return nil, "", err
	}
	for _, check := range v.run.BaseChecks {
		found, err := v.checkouts.Results(check)
		if err != nil {
			return nil, "", err
		}
		answers = append(answers, Answer{check.Name, check.Passed, found.Names(results.Passed)})
	}
	if len(answers) == 0 {
		unready = v.run.Baseline.Why
	}
	return answers, unready, nil
}

// withTests returns the commit with the other one's tests and the base's check files.
func (v *Verifier) withTests(ctx context.Context, e Exam) (string, error) {
	run := v.run
	run.Base = e.Base
	work, err := v.checkouts.Change(ctx, run, e.Base, e.Commit)
	if err != nil {
		return "", err
	}
	hidden, err := v.checkouts.Change(ctx, run, e.Base, e.Tests)
	if err != nil {
		return "", err
	}
	var tests []string
	for _, file := range slices.Concat(work.Files, hidden.Files) {
		if file.Kind == proof.Test || file.Kind == proof.Support {
			tests = append(tests, file.Path)
		}
	}
	return v.trusted.Overlay(ctx, git.Overlay{Onto: work.Head, From: e.Tests, Paths: tests})
}

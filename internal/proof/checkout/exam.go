package checkout

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// Exam is a commit that is checked by the tests of another commit, Tests, which its author
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
func (v *Verifier) Exam(
	ctx context.Context, project string, e Exam, rules Rules,
) (answers []Answer, unready string, err error) {
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
	commit, err := v.withTests(ctx, e)
	if err != nil {
		return nil, "", err
	}
	v.run = journal.Run{Base: commit, Policy: v.run.Policy}
	if err := v.checkouts.Prover().Baseline(ctx, v.run, verdict.Baseline{}, v.emit); err != nil {
		return nil, "", err
	}
	if len(v.run.BaseChecks) == 0 {
		return nil, v.run.Baseline.Why, nil
	}
	for _, check := range v.run.BaseChecks {
		found, err := v.checkouts.Results(check)
		if err != nil {
			return nil, "", err
		}
		answers = append(answers, Answer{check.Name, check.Passed, found.Names(results.Passed)})
	}
	return answers, "", nil
}

// withTests returns the commit with the other one's tests and the base's check files.
func (v *Verifier) withTests(ctx context.Context, e Exam) (string, error) {
	run := v.run
	run.Base = e.Base
	change, err := v.checkouts.Change(ctx, run, e.Base, e.Commit)
	if err != nil {
		return "", err
	}
	changeOfTests, err := v.checkouts.Change(ctx, run, e.Base, e.Tests)
	if err != nil {
		return "", err
	}
	var tests []string
	for _, file := range slices.Concat(change.Files, changeOfTests.Files) {
		if isTest(file) {
			tests = append(tests, file.Path)
		}
	}
	return v.trusted.Overlay(ctx, git.Overlay{Onto: change.Head, From: e.Tests, Paths: tests})
}

package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// unsteady tells whether a test, or another case of it, failed in only one of two
// runs of a check. The failures of both have to be known.
func unsteady(check journal.CheckEnded, name string) bool {
	if check.First == nil || check.First.TimedOut || check.First.Tests == nil || check.First.Tests.Cut {
		return false
	}
	first := check.First.Tests
	return len(first.Failing()) > 0 && len(first.Broken) == 0 && parted(first.Red, check.Tests.Failing(), name)
}

// parted tells whether a case of a test is among only one of two lists.
func parted(one, other []string, name string) bool {
	only := func(some, rest []string) bool {
		return slices.ContainsFunc(some, func(n string) bool { return tally.Head(n) == tally.Head(name) && !slices.Contains(rest, n) })
	}
	return only(one, other) || only(other, one)
}

// mended are the tests that were red at the base and pass in the proof; those that failed in another run of the base
// are sure: a flaky test is red once and green once with any change.
func (t *trial) mended() (sure, doubtful []string) {
	for _, name := range slices.DeleteFunc(verdict.FixedTests(t.run, t.graded.Story, t.proof), t.before) {
		switch t.once(name) {
		case tally.Failed, tally.Broken:
			sure = append(sure, name)
		case tally.Absent:
			doubtful = append(doubtful, name)
		case tally.Passed, tally.Skipped:
		}
	}
	return sure, doubtful
}

// once is how a test ended in the other runs of the base code. A run in which it,
// or another case of it, ended otherwise than at the base outweighs the others.
func (t *trial) once(name string) tally.Outcome {
	seen := t.seen.checks
	if t.again != nil {
		seen = slices.Concat(seen, t.again.checks)
	}
	outcome := tally.Absent
	for _, check := range seen {
		base, _ := t.run.BaseCheck(check.Name)
		switch {
		case unsteady(check, name), t.passed(base, check, name), t.passed(check, base, name):
			return tally.Passed
		case slices.Contains(check.Tests.Failing(), name):
			outcome = tally.Failed
		}
	}
	return outcome
}

// passed tells whether a case of a test failed in one run of a check and passed in another.
func (t *trial) passed(one, other journal.CheckEnded, name string) bool {
	told := t.tests.Told(other)
	return slices.ContainsFunc(one.Tests.Failing(), func(n string) bool { return tally.Head(n) == tally.Head(name) && told.Of(n) == tally.Passed })
}

// confirm runs the base once more if only a test that was red there could show the story.
func (p Prover) confirm(ctx context.Context, t *trial) error {
	_, doubtful := t.mended()
	turned := t.sum()
	if len(doubtful) == 0 || len(turned.tests) > 0 || turned.whole() {
		return nil
	}
	only := func(check string) bool {
		return slices.ContainsFunc(verdict.FailedAtBase(t.run, check), func(name string) bool { return slices.Contains(doubtful, name) })
	}
	seen, err := p.run(ctx, t.run, Place{Where: journal.AtDoubt, Commit: t.run.Base, Only: only, Number: tryBase}, func(journal.Event) {})
	if err != nil {
		return fmt.Errorf("check the base once more: %w", err)
	}
	t.again = &seen
	return nil
}

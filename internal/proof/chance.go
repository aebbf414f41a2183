package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// passedFirst tells whether a test that failed in the second run of a check did not
// fail in the first, whose failures are known.
func passedFirst(check journal.CheckEnded, name string) bool {
	if check.First == nil || check.First.TimedOut || check.First.Tests == nil || check.First.Tests.Cut {
		return false
	}
	failed := check.First.Tests
	return len(failed.Failing()) > 0 && len(failed.Broken) == 0 && !slices.Contains(failed.Red, name)
}

// mended are the tests that were red at the base and pass in the proof. They are
// sure where they failed in another run of the base code, too: a flaky test is red
// once and green once, with any change.
func (t *trial) mended() (sure, doubtful []string) {
	for _, name := range slices.DeleteFunc(verdict.Mended(t.run, t.graded.Story, t.proof), t.before) {
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

// once is how a test ended in the other runs of the base code; one in which it
// passed outweighs those in which it failed.
func (t *trial) once(name string) tally.Outcome {
	seen := t.seen.checks
	if t.again != nil {
		seen = slices.Concat(seen, t.again.checks)
	}
	outcome := tally.Absent
	for _, check := range seen {
		switch {
		case t.tests.Told(check).Of(name) == tally.Passed, slices.Contains(check.Tests.Failing(), name) && passedFirst(check, name):
			return tally.Passed
		case slices.Contains(check.Tests.Failing(), name):
			outcome = tally.Failed
		}
	}
	return outcome
}

// confirm runs the base once more where a test that was red there is all that could
// show the story.
func (p Prover) confirm(ctx context.Context, t *trial) error {
	_, doubtful := t.mended()
	turned := t.sum()
	if len(doubtful) == 0 || len(turned.tests) > 0 || turned.whole() {
		return nil
	}
	only := func(check string) bool {
		return slices.ContainsFunc(verdict.RedBefore(t.run, check), func(name string) bool { return slices.Contains(doubtful, name) })
	}
	seen, err := p.run(ctx, t.run, Place{Where: journal.AtDoubt, Commit: t.run.Base, Only: only, Number: tryBase}, func(journal.Event) {})
	if err != nil {
		return fmt.Errorf("check the base once more: %w", err)
	}
	t.again = &seen
	return nil
}

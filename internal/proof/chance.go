package proof

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// unsteady reports whether a test, or another case of it, failed in only one of two
// runs of a check. The failures of both must be known.
func unsteady(check journal.CheckEnded, name string) bool {
	if check.First == nil || check.First.TimedOut || check.First.Tests == nil || check.First.Tests.Cut {
		return false
	}
	first := check.First.Tests
	return len(first.Failing()) > 0 && len(first.Broken) == 0 && endedDifferently(first.Red, check.Tests.Failing(), name)
}

// endedDifferently reports whether only one of two lists contains a case of a test.
func endedDifferently(one, other []string, name string) bool {
	only := func(some, rest []string) bool {
		return slices.ContainsFunc(some, func(n string) bool { return tally.Head(n) == tally.Head(name) && !slices.Contains(rest, n) })
	}
	return only(one, other) || only(other, one)
}

// fixed returns the tests that were red at the base and pass in the proof. Those that also failed in another run of
// the base are sure. A flaky test could be red once and green once with any change.
func (t *trial) fixed() (sure, doubtful []string) {
	for _, name := range slices.DeleteFunc(verdict.FixedTests(t.run, t.graded.Story, t.proof), t.isForeign) {
		switch t.inOtherRuns(name) {
		case tally.Failed, tally.Broken:
			sure = append(sure, name)
		case tally.Absent:
			if !t.passedAtStart(name) {
				doubtful = append(doubtful, name)
			}
		case tally.Passed, tally.Skipped:
		}
	}
	pushed := t.fixedSince()
	if t.unpushed == nil {
		return sure, append(doubtful, pushed...)
	}
	return append(sure, slices.DeleteFunc(pushed, t.passedUnpushed)...), doubtful
}

// passedAtStart reports whether a test passed when the run began, in what earlier runs left: that may be other work than what
// is open of the story.
func (t *trial) passedAtStart(name string) bool {
	start, _ := t.run.ProofOf(t.run.Open.Tree)
	return slices.ContainsFunc(start.Checks, func(check journal.CheckEnded) bool { return t.told(check).Of(name) == tally.Passed })
}

// passedUnpushed reports whether a test was green before people pushed, or that is unknown: they broke what it tests, or it
// was red by chance.
func (t *trial) passedUnpushed(name string) bool {
	return len(t.unpushed.checks) == 0 || slices.ContainsFunc(t.unpushed.checks, func(check journal.CheckEnded) bool {
		return !check.TellsTests() || t.told(check).Of(name) == tally.Passed
	})
}

// fixedSince returns the tests that were red on what the run began with, as people pushed them, and pass in the proof.
func (t *trial) fixedSince() (names []string) {
	start, _ := t.run.StartProof()
	if len(t.run.Grounds) == 0 {
		return nil
	}
	for _, was := range start.Checks {
		if was.Passed || !was.TellsTests() {
			continue
		}
		here, _ := journal.FindCheck(t.proof.Checks, was.Name)
		base, _ := t.run.BaseCheck(was.Name)
		now, then := t.told(here), t.told(base)
		names = append(names, slices.DeleteFunc(slices.Clone(was.Tests.Red), func(name string) bool {
			return now.Of(name) != tally.Passed || then.Of(name) == tally.Passed || unsteady(was, name) || t.isForeign(name)
		})...)
	}
	return names
}

// inOtherRuns returns a test's result in the other runs of the base code. If it, or another
// case of it, ended differently than at the base, that counts more than the other runs.
func (t *trial) inOtherRuns(name string) tally.Outcome {
	seen := t.onBase.checks
	if t.baseAgain != nil {
		seen = slices.Concat(seen, t.baseAgain.checks)
	}
	outcome := tally.Absent
	for _, check := range seen {
		base, _ := t.run.BaseCheck(check.Name)
		switch {
		case unsteady(check, name), t.passedElsewhere(base, check, name), t.passedElsewhere(check, base, name):
			return tally.Passed
		case slices.Contains(check.Tests.Failing(), name):
			outcome = tally.Failed
		}
	}
	return outcome
}

// passedElsewhere reports whether a case of a test failed in one run of a check and passed in another.
func (t *trial) passedElsewhere(one, other journal.CheckEnded, name string) bool {
	told := t.told(other)
	return slices.ContainsFunc(one.Tests.Failing(), func(n string) bool { return tally.Head(n) == tally.Head(name) && told.Of(n) == tally.Passed })
}

// repeatBase runs the base once more, and what there was before people pushed, if only a test that was red there could prove
// the story.
func (p Prover) repeatBase(ctx context.Context, t *trial) error {
	_, doubtful := t.fixed()
	turned := t.allTurned()
	if len(doubtful) == 0 || len(turned.tests) > 0 || turned.unnamed() {
		return nil
	}
	isDoubtful := func(name string) bool { return slices.Contains(doubtful, name) }
	again := Place{Where: journal.AtDoubt, Commit: t.run.Base, Number: tryBase, Only: func(check string) bool {
		return slices.ContainsFunc(verdict.FailedAtBase(t.run, check), isDoubtful)
	}}
	var seen outcome
	if err := p.add(ctx, t.run, again, &seen, func(journal.Event) {}); err != nil {
		return fmt.Errorf("check the base once more: %w", err)
	}
	if len(seen.checks) > 0 {
		t.baseAgain = &seen
	}
	if !slices.ContainsFunc(t.fixedSince(), isDoubtful) {
		return nil
	}
	pushes := slices.Concat(t.run.Grounds, t.run.Open.Judges)
	unpushed := Place{Where: journal.AtDoubt, Commit: pushes[len(pushes)-1].Sound, Number: tryUnpushed}
	before, err := p.run(ctx, t.run, unpushed, func(journal.Event) {})
	t.unpushed = &before
	return err
}

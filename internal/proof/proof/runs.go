package proof

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// repeated runs setup and checks. A check whose failure counts runs once more, so that chance does not decide: if it
// passes then, it is flaky, and counts as passed.
func (p Prover) repeated(
	ctx context.Context, run journal.Run, at Place, counts func(journal.CheckEnded) bool, emit func(journal.Event),
) (Outcome, error) {
	var waiting []journal.Event // events stay in the order of the checks
	seen, err := p.Run(ctx, run, at, func(event journal.Event) {
		check, ok := event.(journal.CheckEnded)
		if len(waiting) == 0 && (!ok || !counts(check)) {
			emit(event)
			return
		}
		waiting = append(waiting, event)
	})
	if err != nil || seen.Unready != "" || len(waiting) == 0 {
		return seen, err
	}
	again := at
	again.Second = true
	again.Only = orLater(run.Policy.Checks, func(name string) bool {
		check, found := journal.FindCheck(seen.Checks, name)
		return found && counts(check)
	})
	second, err := p.Run(ctx, run, again, func(journal.Event) {})
	if err != nil {
		return seen, err
	}
	for i, check := range seen.Checks {
		last, found := journal.FindCheck(second.Checks, check.Name)
		if found && counts(check) {
			seen.Checks[i] = twice(check, last)
		}
	}
	for _, event := range waiting {
		if check, ok := event.(journal.CheckEnded); ok {
			event, _ = journal.FindCheck(seen.Checks, check.Name)
		}
		emit(event)
	}
	return seen, nil
}

// twice returns the result of a check that ran twice. A test that failed in only one of both runs is flaky, and counts
// as passed.
func twice(check, second journal.CheckEnded) journal.CheckEnded {
	if second.Passed {
		second.First = check.Try()
		second.Flaky = true
		return second
	}
	failures := len(check.Tests.Failing())
	check.First = second.Try()
	if !check.HasNamedFailures() || !second.HasNamedFailures() {
		return check
	}
	failing := second.Tests.Failing()
	tests := *check.Tests
	tests.Red = inBoth(tests.Red, failing)
	tests.Broken = inBoth(tests.Broken, failing)
	left := len(tests.Red) + len(tests.Broken)
	check.Tests = &tests
	check.Flaky = left < failures
	check.Passed = left == 0
	return check
}

func inBoth(names, others []string) []string {
	var both []string
	for _, name := range names {
		if slices.Contains(others, name) {
			both = append(both, name)
		}
	}
	return both
}

// blocks reports whether a failure counts against the change.
func (t *trial) blocks(check journal.CheckEnded) bool {
	return verdict.Blocks(t.run.Policy, t.baseChecks, check) && !check.CannotRun
}

// runHead runs the checks on the change. If they fail with the base's check files, and pass with the change's own, a
// person has to look at these.
func (t *trial) runHead(ctx context.Context) error {
	t.proof.Restored = first(mostFiles, t.change.Restored)
	at := Place{Where: journal.AtHead, Commit: t.proof.Commit, Checkout: t.change.Head}
	seen, err := t.repeated(ctx, t.run, at, t.blocks, t.count)
	if err != nil {
		return err
	}
	t.headChecks = seen.Checks
	why := t.whyRed(seen)
	if why == "" {
		t.headPasses = true
		t.endIfMeaningless()
		return nil
	}
	if t.change.Own != "" {
		at.Where = journal.AtTrial
		at.Checkout = t.change.Own
		own, err := t.Run(ctx, t.run, at, t.countOnly)
		if err != nil {
			return err
		}
		if t.whyRed(own) == "" {
			t.addLooks()
			names := t.change.paths(Check, func(File) bool { return true })
			t.end(journal.NeedsReview, "the checks pass only with changed check files: "+journal.ShortList(names))
			return nil
		}
	}
	t.end(journal.Failed, why)
	return nil
}

// countOnly counts the runs of checks whose results are not recorded.
func (t *trial) countOnly(event journal.Event) {
	if check, ok := event.(journal.CheckEnded); ok {
		t.proof.Add(check)
	}
}

// endIfMeaningless ends the proof if no check shows whether something works.
func (t *trial) endIfMeaningless() {
	var names []string
	for _, check := range t.headChecks {
		if t.isMeaningful(check) {
			return
		}
		names = append(names, check.Name)
	}
	why := "failed before the change, too, without names of tests: " + journal.ShortList(names)
	t.end(journal.Unknown, cmp.Or(t.unusable, why))
}

// isMeaningful reports whether the result of a check with the change shows whether something works.
func (t *trial) isMeaningful(check journal.CheckEnded) bool {
	if check.Skipped != "" {
		return true
	}
	baseCheck, found := journal.FindCheck(t.baseChecks, check.Name)
	if found && isUsable(t.run.Policy, baseCheck) {
		return true
	}
	return check.Passed && !t.run.Policy.CheckNamed(check.Name).Added
}

// whyRed returns why a run counts against the change; empty: it passes.
func (t *trial) whyRed(seen Outcome) string {
	if seen.Unready != "" {
		return seen.Unready
	}
	var red []string
	for _, check := range seen.Checks {
		if verdict.Blocks(t.run.Policy, t.baseChecks, check) {
			red = append(red, t.failure(check))
		}
	}
	for _, rule := range t.run.Policy.Checks {
		_, ran := journal.FindCheck(seen.Checks, rule.Name)
		if !ran && verdict.MayBlock(t.run.Policy, t.baseChecks, rule.Name) {
			red = append(red, rule.Name+" did not run")
		}
	}
	return strings.Join(red, ", ")
}

func (t *trial) failure(check journal.CheckEnded) string {
	if check.TimedOut {
		return check.Name + " ran out of time"
	}
	text := fmt.Sprintf("%s failed (exit %d)", check.Name, check.Exit)
	failing := t.newFailures(check)
	if len(failing) > 0 {
		text += ": " + journal.ShortList(failing)
	}
	return text
}

// newFailures returns what fails in a check and did not at the base.
func (t *trial) newFailures(check journal.CheckEnded) []string {
	baseCheck, _ := journal.FindCheck(t.baseChecks, check.Name)
	known := baseCheck.Tests.Failing()
	var failures []string
	for _, name := range check.Tests.Failing() {
		if !slices.Contains(known, name) {
			failures = append(failures, name)
		}
	}
	return failures
}

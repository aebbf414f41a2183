package verdict

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
)

// FailedAtBase names what of the check named name failed at the base already;
// none where it passed there, or its failures have no names to go by.
func FailedAtBase(run journal.Run, name string) []string {
	if base, found := run.AtBase(name); found && base.Named() {
		return base.Tests.Failing()
	}
	return nil
}

// MayBlock tells whether a failure of the check named name can hold a story
// back. One that could not run at the base never does; one that was red there
// does under a strict baseline, or where its failures of then are known by name.
func MayBlock(run journal.Run, name string) bool {
	base, found := run.AtBase(name)
	if !found || base.Passed {
		return true
	}
	ran := !base.CannotRun && !base.TimedOut
	return ran && (run.Policy.Baseline == policy.BaselineStrict && !isDetected(run, name) || base.Named())
}

// BlocksStory tells whether the check, as it ended, holds a story back: it failed,
// not only with what failed at the base, and not only by chance.
func BlocksStory(run journal.Run, check journal.CheckEnded) bool {
	if check.Passed || check.Skipped != "" || !MayBlock(run, check.Name) {
		return false
	}
	base, found := run.AtBase(check.Name)
	if !found || base.Passed || run.Policy.Baseline == policy.BaselineStrict {
		return true
	}
	return !failsAsAtBase(base, check) && !failedByChance(base, check)
}

// failedByChance tells that a check failed twice on the same files with different tests:
// each test that failed in one run passed in the other, and another case of it
// failed at the base. A test that never failed there may be flaky by the work.
func failedByChance(base, check journal.CheckEnded) bool {
	if check.First == nil {
		return false
	}
	first := journal.CheckEnded{Exit: check.First.Exit, TimedOut: check.First.TimedOut, Tests: check.First.Tests}
	known := map[string]bool{}
	for _, name := range base.Tests.Failing() {
		known[tally.Head(name)] = true
	}
	return namesAllFailures(first) && namesAllFailures(check) &&
		!slices.ContainsFunc(failuresSince(base, first), func(name string) bool { return !known[tally.Head(name)] || check.Outcome(name) != tally.Passed }) &&
		!slices.ContainsFunc(failuresSince(base, check), func(name string) bool { return !known[tally.Head(name)] || !check.PassedFirst(name) })
}

// namesAllFailures tells that all that failed in a check are tests, and known by name.
func namesAllFailures(check journal.CheckEnded) bool {
	const bySignal = 128
	return check.Named() && check.Exit < bySignal && !check.Tests.Cut && len(check.Tests.Broken) == 0 && check.Tests.Failed <= len(check.Tests.Red)
}

// failsAsAtBase tells that a check is red with what was red at the base and nothing
// else. What cannot be told counts as new.
func failsAsAtBase(base, now journal.CheckEnded) bool {
	const bySignal = 128
	switch {
	case now.TimedOut || now.CannotRun || now.Exit >= bySignal && now.Exit != base.Exit:
		return false
	case len(now.Tests.Failing()) == 0:
		return false
	case base.Tests.Cut || now.Tests.Cut:
		return now.Tests.Digest != "" && now.Tests.Digest == base.Tests.Digest
	}
	return len(failuresSince(base, now)) == 0
}

// failuresSince is what failed now and did not at the base.
func failuresSince(base, now journal.CheckEnded) []string {
	before := base.Tests.Failing()
	return slices.DeleteFunc(now.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) })
}

// NewFailures names what holds a story back in a check that was red before; none
// where that cannot be told.
func NewFailures(run journal.Run, check journal.CheckEnded) []string {
	base, found := run.AtBase(check.Name)
	if check.Passed || !found || !base.Named() || base.Tests.Cut {
		return nil
	}
	return failuresSince(base, check)
}

// CanProve tells whether what the check said is worth something: it was green at
// the base, or tests of it that pass are told from those that failed there. What
// the task itself brought along, and a check that was skipped, prove nothing.
func CanProve(run journal.Run, check journal.CheckEnded) bool {
	base, found := run.AtBase(check.Name)
	if !found || check.Skipped != "" || IsAddedByTask(run, check.Name) {
		return false
	}
	return base.Passed || base.Named() && check.Tests != nil && check.Tests.Passed > 0
}

// isDetected tells whether the check was only suggested: then people did not ask
// for it to be green.
func isDetected(run journal.Run, name string) bool {
	return slices.ContainsFunc(run.Policy.Checks, func(check policy.Check) bool { return check.Name == name && check.Detected })
}

// IsAddedByTask tells whether the task itself brought the check: its author could
// have written one that always passes.
func IsAddedByTask(run journal.Run, name string) bool {
	return slices.ContainsFunc(run.Policy.Checks, func(check policy.Check) bool { return check.Name == name && check.Added })
}

// IsGreen tells whether every check that blocks is among checks, and none of them
// holds a story back.
func IsGreen(run journal.Run, checks []journal.CheckEnded) bool {
	ran := map[string]bool{}
	for _, check := range checks {
		ran[check.Name] = !BlocksStory(run, check)
	}
	for _, check := range run.Policy.Checks {
		if MayBlock(run, check.Name) && !ran[check.Name] {
			return false
		}
	}
	return true
}

package verdict

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
)

// FailedAtBase names the tests of a check that failed at the base. It is empty
// if the check passed there, or if its output does not name its failures.
func FailedAtBase(run journal.Run, name string) []string {
	if base, found := run.BaseCheck(name); found && base.HasNamedFailures() {
		return base.Tests.Failing()
	}
	return nil
}

// MayBlock reports whether a failure of the named check can block a story. A
// check that could not run at the base never blocks. A check that failed there
// blocks under a strict baseline, or if its failures there are known by name.
func MayBlock(run journal.Run, name string) bool {
	base, found := run.BaseCheck(name)
	if !found || base.Passed {
		return true
	}
	ran := !base.CannotRun && !base.TimedOut
	strict := run.Policy.Baseline == policy.BaselineStrict && !run.Policy.CheckNamed(name).Detected // no person required a detected check
	return ran && (strict || base.HasNamedFailures())
}

// BlocksStory reports whether a check blocks its story: it failed, not only as
// it failed at the base, and not only by chance.
func BlocksStory(run journal.Run, check journal.CheckEnded) bool {
	if check.Passed || check.Skipped != "" || !MayBlock(run, check.Name) {
		return false
	}
	base, found := run.BaseCheck(check.Name)
	if !found || base.Passed || run.Policy.Baseline == policy.BaselineStrict {
		return true
	}
	return !failsAsAtBase(base, check) && !failedByChance(base, check)
}

// failedByChance reports whether a check failed twice on the same files with
// different tests: each test that failed in one run passed in the other, and
// another case of it failed at the base. A test that never failed there may be
// flaky because of the work.
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
		!slices.ContainsFunc(failuresSince(base, check), func(name string) bool { return !known[tally.Head(name)] || !check.PassedInFirstRun(name) })
}

// signalExit is the lowest exit code of a command that a signal ended.
const signalExit = 128

// namesAllFailures reports whether each failure in a check is a test with a
// name.
func namesAllFailures(check journal.CheckEnded) bool {
	return check.HasNamedFailures() && check.Exit < signalExit && !check.Tests.Cut && len(check.Tests.Broken) == 0 && check.Tests.Failed <= len(check.Tests.Red)
}

// failsAsAtBase reports whether a check failed at the base in the same way. If
// the output does not tell, the failure counts as new.
func failsAsAtBase(base, now journal.CheckEnded) bool {
	switch {
	case now.TimedOut || now.CannotRun || now.Exit >= signalExit && now.Exit != base.Exit:
		return false
	case len(now.Tests.Failing()) == 0:
		return false
	case base.Tests.Cut || now.Tests.Cut:
		return now.Tests.Digest != "" && now.Tests.Digest == base.Tests.Digest
	}
	return len(failuresSince(base, now)) == 0
}

// failuresSince names the tests that fail now and did not fail at the base.
func failuresSince(base, now journal.CheckEnded) []string {
	before := base.Tests.Failing()
	return slices.DeleteFunc(now.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) })
}

// NewFailures names the tests that block a story in a check that failed at the
// base. It is empty if the output does not name them.
func NewFailures(run journal.Run, check journal.CheckEnded) []string {
	base, found := run.BaseCheck(check.Name)
	if check.Passed || !found || !base.HasNamedFailures() || base.Tests.Cut {
		return nil
	}
	return failuresSince(base, check)
}

// CanProve reports whether the result of a check is evidence: the check passed
// at the base, or its output names the tests that pass and those that failed at
// the base. A skipped check proves nothing, and neither does a check that the
// task added.
func CanProve(run journal.Run, check journal.CheckEnded) bool {
	base, found := run.BaseCheck(check.Name)
	if !found || check.Skipped != "" || IsAddedByTask(run, check.Name) {
		return false
	}
	return base.Passed || base.HasNamedFailures() && check.Tests != nil && check.Tests.Passed > 0
}

// IsAddedByTask reports whether the task added the check: its author could have
// written one that always passes.
func IsAddedByTask(run journal.Run, name string) bool { return run.Policy.CheckNamed(name).Added }

// IsGreen reports whether each check that may block has run, and none blocks.
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

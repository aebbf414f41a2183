package verdict

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
)

// FailedAtBase names the tests of a check that failed at the base, if it failed and named them.
func FailedAtBase(run journal.Run, name string) []string {
	if base, found := run.BaseCheck(name); found && base.HasNamedFailures() {
		return base.Tests.Failing()
	}
	return nil
}

// MayBlock reports whether a failure of a check can block a story. One that failed at the base, or could not run there,
// can under a strict baseline, or if its failures are known by name.
func MayBlock(run journal.Run, name string) bool {
	base, found := run.BaseCheck(name)
	if !found || base.Passed {
		return true
	}
	return isStrict(run, name) || base.HasNamedFailures()
}

// isStrict reports whether a check that was red before blocks. No person required a detected one.
func isStrict(run journal.Run, name string) bool {
	return run.Policy.Baseline == policy.BaselineStrict && !run.Policy.CheckNamed(name).Detected
}

// BlocksStory reports whether a check failed, not only as at the base, and not only by chance.
func BlocksStory(run journal.Run, check journal.CheckEnded) bool {
	if check.Passed || check.Skipped != "" || !MayBlock(run, check.Name) {
		return false
	}
	base, found := run.BaseCheck(check.Name)
	if !found || base.Passed || isStrict(run, check.Name) {
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

const signalExit = 128 // the lowest exit code of a command that a signal ended

// namesAllFailures reports whether each failure in a check is a test with a name.
func namesAllFailures(check journal.CheckEnded) bool {
	return check.HasNamedFailures() && check.Exit < signalExit && !check.Tests.Cut && len(check.Tests.Broken) == 0 && check.Tests.Failed <= len(check.Tests.Red)
}

// failsAsAtBase reports whether a check failed as at the base. If in doubt, the failure is new.
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

func failuresSince(base, now journal.CheckEnded) []string {
	before := base.Tests.Failing()
	return slices.DeleteFunc(now.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) })
}

// NewFailures names the tests that fail anew in a check that failed at the base, if known.
func NewFailures(run journal.Run, check journal.CheckEnded) []string {
	base, found := run.BaseCheck(check.Name)
	if check.Passed || !found || !base.HasNamedFailures() || base.Tests.Cut {
		return nil
	}
	return failuresSince(base, check)
}

// MayLackSetup reports whether a check may have failed for lack of setup: it passed at the base, but never in the user's
// own tree, in which setup does not run.
func MayLackSetup(run journal.Run, check journal.CheckEnded) bool {
	base, found := run.BaseCheck(check.Name)
	if len(run.Policy.Setup) == 0 || run.Policy.Worktree || run.Policy.Publish || check.Where != journal.AtWork || found && !base.Passed {
		return false
	}
	return !check.Passed && check.Skipped == "" && !slices.ContainsFunc(run.Iterations, func(it journal.Iteration) bool {
		return slices.ContainsFunc(it.Checks, func(c journal.CheckEnded) bool { return c.Name == check.Name && c.Where == check.Where && c.Passed })
	})
}

// CanProve reports whether a check's result is evidence: it passed at the base, or names the tests that pass and
// those that failed there. Neither a skipped check proves anything, nor one that the task added.
func CanProve(run journal.Run, check journal.CheckEnded) bool {
	base, found := run.BaseCheck(check.Name)
	if !found || check.Skipped != "" || IsAddedByTask(run, check.Name) {
		return false
	}
	return base.Passed || base.HasNamedFailures() && check.Tests != nil && check.Tests.Passed > 0
}

// IsAddedByTask reports whether the task's author, who wants it to pass, added the check.
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

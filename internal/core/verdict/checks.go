package verdict

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// MayBlock reports whether a failure of a check can count against the work. One that failed at the base, or could not
// run there, can under a strict baseline, or if its failures are known by name.
func MayBlock(p policy.Policy, base []journal.CheckEnded, name string) bool {
	before, found := journal.FindCheck(base, name)
	if !found || before.Passed || isStrict(p, name) {
		return true
	}
	return before.HasNamedFailures()
}

// isStrict reports whether a check that was red before blocks. No person required a detected one.
func isStrict(p policy.Policy, name string) bool {
	return p.Baseline == policy.BaselineStrict && !p.CheckNamed(name).Detected
}

// Blocks reports whether a failure of a check counts against the work: it did not only fail as at the base.
func Blocks(p policy.Policy, base []journal.CheckEnded, check journal.CheckEnded) bool {
	if check.Passed || check.Skipped != "" || !MayBlock(p, base, check.Name) {
		return false
	}
	before, found := journal.FindCheck(base, check.Name)
	if !found || before.Passed || isStrict(p, check.Name) {
		return true
	}
	if check.Where == journal.AtWork && check.Tests == nil { // only a clean checkout gets reports by name
		return check.TimedOut || check.CannotRun
	}
	return !check.HasNamedFailures() || len(failuresSince(before, check)) > 0
}

// BlocksStory is Blocks, compared with the run's base.
func BlocksStory(run journal.Run, check journal.CheckEnded) bool {
	return Blocks(run.Policy, run.BaseChecks, check)
}

func failuresSince(base, head journal.CheckEnded) []string {
	before := base.Tests.Failing()
	return slices.DeleteFunc(head.Tests.Failing(), func(name string) bool { return slices.Contains(before, name) })
}

// NewFailures names the tests that fail anew in a check that failed at the base, if known.
func NewFailures(run journal.Run, check journal.CheckEnded) []string {
	base, found := run.BaseCheck(check.Name)
	if check.Passed || !found || !base.HasNamedFailures() {
		return nil
	}
	return failuresSince(base, check)
}

// IsAddedByTask reports whether the task's author, who wants it to pass, added the check.
func IsAddedByTask(run journal.Run, name string) bool { return run.Policy.CheckNamed(name).Added }

// IsGreen reports whether each check that may block has run, and none blocks.
func IsGreen(run journal.Run, checks []journal.CheckEnded) bool {
	for _, check := range run.Policy.Checks {
		ended, ran := journal.FindCheck(checks, check.Name)
		if !ran && MayBlock(run.Policy, run.BaseChecks, check.Name) {
			return false
		}
		if ran && BlocksStory(run, ended) {
			return false
		}
	}
	return true
}

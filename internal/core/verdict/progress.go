package verdict

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// noProgress returns why another iteration would bring nothing new: the agent does not work, or the same tree fails
// in the same way.
func noProgress(run journal.Run) (policy.Reason, string) {
	if why := BaseObstacle(run); why != "" {
		return policy.FatalError, why
	}
	recent := judgedIterations(run)
	if len(recent) == 0 {
		return "", ""
	}
	last := recent[len(recent)-1]
	if last.Agent.CannotRun {
		return policy.FatalError, last.Agent.Why
	}
	if why := CannotCheck(run, last); why != "" {
		return policy.FatalError, why
	}
	failed := countAtEnd(recent, func(it journal.Iteration) bool { return it.Agent.Failed })
	if limit := run.Policy.Limits.Failures; limit > 0 && failed >= limit {
		return policy.FatalError, fmt.Sprintf("the agent failed %d times in a row: %s", limit, last.Agent.Why)
	}
	equal := countAtEnd(recent, func(it journal.Iteration) bool {
		return len(it.Ended.Passed) == 0 && it.Story == last.Story && outcomeKey(it) == outcomeKey(last)
	})
	if limit := run.Policy.Limits.Stall; limit > 0 && equal >= limit {
		return policy.Stalled, fmt.Sprintf("%d iterations in a row left the same tree and the same result", limit)
	}
	return "", ""
}

// BaseObstacle returns why no agent starts on this base: setup fails there, a check cannot start, or one is red under a
// strict baseline. A detected check, which no person required, stops a run only if no other check can prove anything.
func BaseObstacle(run journal.Run) string {
	if run.HasSetupFailedAtBase() {
		return run.Baseline.Why
	}
	for _, check := range run.BaseChecks {
		switch {
		case run.Baseline == nil || check.Passed:
		case run.Baseline.Usable && run.Policy.CheckNamed(check.Name).Detected:
		case check.Missing != "":
			return cannotStart(check)
		case MustBeGreenAtBase(run, check.Name):
			return fmt.Sprintf("the check %s was red before the work began, and `baseline` is strict", check.Name)
		}
	}
	return ""
}

// MustBeGreenAtBase reports whether no agent starts while a check fails at the base. One that the task added may be red
// until the work is done.
func MustBeGreenAtBase(run journal.Run, name string) bool {
	rule := run.Policy.CheckNamed(name)
	return run.Policy.Baseline == policy.BaselineStrict && !rule.Detected && !rule.Added
}

func cannotStart(check journal.CheckEnded) string {
	return fmt.Sprintf("the check %s cannot start: %s is not installed", check.Name, check.Missing)
}

// CannotCheck returns why another iteration would fail as this one: the program of a check is not installed.
func CannotCheck(run journal.Run, it journal.Iteration) string {
	if it.Ended != nil && len(it.Ended.Passed) > 0 {
		return ""
	}
	for _, check := range it.NewestChecks() {
		if check.Missing != "" && BlocksStory(run, check) {
			return cannotStart(check)
		}
	}
	return ""
}

// openQuestion returns the newest agent's question to people, unless its story passed.
func openQuestion(run journal.Run) string {
	recent := judgedIterations(run)
	if !isByStories(run) || len(recent) == 0 {
		return ""
	}
	it := recent[len(recent)-1]
	if it.Agent.Failed || slices.Contains(it.Ended.Passed, it.Story) {
		return ""
	}
	return it.Agent.Question
}

// judgedIterations returns the iterations with a verdict since the limits were granted.
func judgedIterations(run journal.Run) []journal.Iteration {
	var judged []journal.Iteration
	for _, it := range run.Iterations[min(run.Clock.Granted.Iterations, len(run.Iterations)):] {
		if it.Ended != nil && it.Agent != nil {
			judged = append(judged, it)
		}
	}
	return judged
}

// countAtEnd counts the newest iterations that match, up to one that does not.
func countAtEnd(its []journal.Iteration, match func(journal.Iteration) bool) int {
	n := 0
	for i := len(its) - 1; i >= 0 && match(its[i]); i-- {
		n++
	}
	return n
}

// outcomeKey identifies the result of an iteration by its tree, if known, and its checks.
func outcomeKey(it journal.Iteration) string {
	text := ""
	if it.Taken != nil {
		text = it.Taken.Work
	}
	known := text != ""
	for _, check := range it.Checks {
		text += fmt.Sprintf(" %s=%d", check.Name, check.Exit)
		if !known {
			text += " " + check.Digest
		}
	}
	return text
}

package verdict

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// WaitExitCode is the exit code of an agent that asks not to be started again.
const WaitExitCode = 42

// The end of a task in the words that its parent and children expect.
const (
	taskDone    = "task completed (DONE marker present, no active children)"
	taskGivenUp = "max restarts exceeded"
)

// supervisedStep returns the next step of a run whose end is a file, as the agent's exit code says nothing. The task
// folder is read before and after each attempt.
func supervisedStep(run journal.Run) Step {
	if run.Cancel != nil {
		return stop(policy.Cancelled, run.Cancel.Why)
	}
	it, open := run.OpenIteration()
	if open && it.Agent != nil {
		return stepAfterAttempt(run, it)
	}
	looked := run.Looked
	var last *journal.Iteration
	if tried := judgedIterations(run); len(tried) > 0 {
		last = &tried[len(tried)-1]
	}
	switch {
	case last != nil && last.Agent.CannotRun:
		return stop(policy.FatalError, last.Agent.Why)
	case looked == nil:
		return ReadTaskFolder{}
	case looked.Broken != "":
		return stop(policy.FatalError, looked.Broken)
	case looked.Done:
		return settleStep(run, policy.DoneFile, taskDone)
	case last != nil && waitReason(*last, *looked) != "":
		return settleStep(run, policy.Waiting, waitReason(*last, *looked))
	case open: // interrupted
		return Iterate{Number: it.Number}
	case last != nil && !last.Paused:
		return Pause{For: run.Policy.Supervision.Delay.Std()}
	}
	return restartStep(run)
}

func stepAfterAttempt(run journal.Run, it journal.Iteration) Step {
	if run.Looked == nil && !it.Agent.CannotRun {
		return ReadTaskFolder{}
	}
	// The command's work is not visible: assume that it did some.
	verdict := journal.IterationEnded{Number: it.Number, Green: !it.Agent.Failed, Worked: true}
	verdict.Done = run.Looked != nil && run.Looked.Done
	return Judge{verdict}
}

// waitReason returns how an attempt asked not to be followed by another, if it did.
func waitReason(it journal.Iteration, looked journal.TaskLooked) string {
	switch {
	case looked.Wait != "":
		return cmp.Or(looked.Words, "asked by "+looked.Wait)
	case it.Agent.Exit == WaitExitCode && !it.Agent.TimedOut:
		return "asked by exit code 42"
	}
	return ""
}

func restartStep(run journal.Run) Step {
	reason, why := limitReached(run)
	if reason == policy.MaxIterations {
		return settleStep(run, reason, taskGivenUp)
	}
	if reason != "" {
		return stop(reason, why)
	}
	return Iterate{Number: len(run.Iterations) + 1}
}

func settleStep(run journal.Run, reason policy.Reason, words string) Step {
	if run.Settled == nil {
		return AnnounceEnd{Reason: reason, Words: words}
	}
	return stop(reason, words)
}

package verdict

import (
	"cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// WaitExit is the exit code by which an agent asks not to be started again.
const WaitExit = 42

// What those around a task are told, in the words they know.
const (
	taskDone  = "task completed (DONE marker present, no active children)"
	taskGiven = "max restarts exceeded"
)

// supervise is the next step of a run that is done by a file: the agent's own
// exit code says nothing of the task. The folder is looked at before each
// attempt and after it.
func supervise(run journal.Run) Step {
	if run.Cancel != nil {
		return stop(policy.Cancelled, run.Cancel.Why)
	}
	it, open := run.Open()
	if open && it.Agent != nil {
		return attempt(run, it)
	}
	tried, looked := ended(run), run.Looked
	switch last := newest(tried); {
	case last != nil && last.Agent.CannotRun:
		return stop(policy.FatalError, last.Agent.Why)
	case looked == nil:
		return Look{}
	case looked.Broken != "":
		return stop(policy.FatalError, looked.Broken)
	case looked.Done:
		return settle(run, policy.DoneFile, taskDone)
	case last != nil && waits(*last, *looked) != "":
		return settle(run, policy.Waiting, waits(*last, *looked))
	case open: // it was cut off
		return Iterate{Number: it.Number}
	case last != nil && !last.Paused:
		return Pause{For: run.Policy.Supervision.Delay.Std()}
	}
	return restart(run)
}

// attempt is the next step when the command has ended.
func attempt(run journal.Run, it journal.Iteration) Step {
	if run.Looked == nil && !it.Agent.CannotRun {
		return Look{}
	}
	// What the command does cannot be seen: it is taken to have worked.
	verdict := journal.IterationEnded{Number: it.Number, Green: !it.Agent.Failed, Worked: true}
	verdict.Done = run.Looked != nil && run.Looked.Done
	return Judge{verdict}
}

// newest is the last of its, if there is one.
func newest(its []journal.Iteration) *journal.Iteration {
	if len(its) == 0 {
		return nil
	}
	return &its[len(its)-1]
}

// waits is how an attempt asked not to be followed by another; empty when it
// did not. One that ran out of time did not end with a code of its own choice.
func waits(it journal.Iteration, looked journal.TaskLooked) string {
	switch {
	case looked.Wait != "":
		return cmp.Or(looked.Words, "asked by "+looked.Wait)
	case it.Agent.Exit == WaitExit && !it.Agent.TimedOut:
		return "asked by exit code 42"
	}
	return ""
}

// restart begins an attempt, unless a limit has run out.
func restart(run journal.Run) Step {
	reason, why := spent(run)
	if reason == policy.MaxIterations {
		return settle(run, reason, taskGiven)
	}
	if reason != "" {
		return stop(reason, why)
	}
	return Iterate{Number: len(run.Iterations) + 1}
}

// settle stops a run, but not before those around the task know.
func settle(run journal.Run, reason policy.Reason, words string) Step {
	if run.Settled == nil {
		return Settle{Reason: reason, Words: words}
	}
	return stop(reason, words)
}

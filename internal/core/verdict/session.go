package verdict

import (
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// sessionStep returns the next step of a loop within an agent's session, each time the agent wants to end.
func sessionStep(run journal.Run) Step {
	if run.Cancel != nil {
		return stop(policy.Cancelled, run.Cancel.Why)
	}
	if it, open := run.OpenIteration(); open {
		if it.Agent == nil {
			return Iterate{Number: it.Number}
		}
		if hasPromised(run, it) && len(it.Checks) < len(run.Policy.Checks) {
			return Check{}
		}
		return Judge{judgeSession(run, it)}
	}
	if last, found := run.LastJudged(); found && last.Ended.Done {
		return stop(policy.PromiseAccepted, policy.PromiseAccepted.SessionStatus())
	}
	limit := run.Policy.Limits.Iterations
	if limit > 0 && run.UsedIterations() > limit { // counts from iteration 0
		status := policy.MaxIterations.SessionStatus()
		return stop(policy.MaxIterations, fmt.Sprintf("%s: sent back to work %d times", status, limit))
	}
	most := run.Policy.Session.Cap
	if most > 0 && refusedStops(run) > most {
		why := fmt.Sprintf("the agent's program allows at most %d refused stops in a row without a tool call", most)
		return stop(policy.Waiting, why)
	}
	return Iterate{Number: len(run.Iterations)}
}

// hasPromised reports whether the agent made the promise, after work.
func hasPromised(run journal.Run, it journal.Iteration) bool {
	return slices.Contains(it.Agent.Promises, run.Policy.Word) && toolCalls(run) >= run.Policy.Session.MinTools
}

// judgeSession returns whether the agent made the promise, after work, and the checks passed. A rejected promise has to
// be made again.
func judgeSession(run journal.Run, it journal.Iteration) journal.IterationEnded {
	rules := run.Policy.Session
	calls := toolCalls(run)
	verdict := journal.IterationEnded{Number: it.Number, Green: true, Worked: calls > 0 && calls >= rules.MinTools}
	switch {
	case !slices.Contains(it.Agent.Promises, run.Policy.Word):
	case hasPromised(run, it) && IsGreen(run, it.Checks):
		verdict.Done = true
	case hasPromised(run, it):
		verdict.Green = false
		reject(&verdict, run.Policy.PromiseTag(), failedChecks(run, it))
	default:
		why := fmt.Sprintf("%d of at least %d tool calls since the loop began", calls, rules.MinTools)
		reject(&verdict, run.Policy.PromiseTag(), why)
	}
	return verdict
}

// toolCalls counts the tool calls since the loop began, but for those on the loop's own files.
func toolCalls(run journal.Run) int {
	calls := 0
	for _, it := range run.Iterations {
		if it.Agent != nil {
			calls += it.Agent.Tools - it.Agent.Chores
		}
	}
	return calls
}

// refusedStops counts refused ends in a row, up to a tool call or a person's message.
func refusedStops(run journal.Run) int {
	count := 0
	for _, it := range slices.Backward(run.Iterations[min(run.Clock.Granted.Iterations, len(run.Iterations)):]) {
		count++
		if it.Agent == nil || it.Agent.Tools > 0 || it.Agent.Fresh {
			break
		}
	}
	return count
}

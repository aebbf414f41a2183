package view

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// supervisedText returns the text of an event for a supervised command. If not ok, the text for an agent fits.
func supervisedText(run journal.Run, event journal.Event) (text string, ok bool) {
	switch e := event.(type) { //nolint:gochecksumtype // the others have the same text
	case journal.RunBegan:
		s := run.Policy.Supervision
		return fmt.Sprintf("run %s: supervising %s for task %s of project %s",
			run.ID, oneLine(run.Policy.Agent), oneLine(s.Task), oneLine(s.Project)), true
	case journal.IterationBegan:
		return firstAttemptText(run, e), true
	case journal.AgentEnded:
		return unusualEndText(run, e), true
	case journal.Paused:
		return restartText(run), true
	case journal.RunStopped:
		return supervisedStopText(run, e), true
	case journal.IterationEnded:
		if it, found := run.LastJudged(); e.Done && found && it.Agent != nil {
			return exitText(*it.Agent) + ", DONE marker present", true
		}
		return "", true
	}
	return "", false
}

// supervisedStopText leaves out the reason if the end of the task has shown it.
func supervisedStopText(run journal.Run, e journal.RunStopped) string {
	if run.Settled != nil {
		e.Why = ""
	}
	line := stopText(e)
	if todo := supervisedNext(run); todo != "" {
		line += "\nnext: " + todo
	}
	return line
}

// firstAttemptText is empty for later attempts, which restartText has announced.
func firstAttemptText(run journal.Run, e journal.IterationBegan) string {
	if run.UsedIterations() > 1 {
		return ""
	}
	return "Starting agent" + attemptNumber(run, e.Number)
}

func attemptNumber(run journal.Run, number int) string {
	return " (attempt " + OfLimit(run, number) + ")"
}

// OfLimit returns the number of an iteration, and the number of the last one if there is a limit.
func OfLimit(run journal.Run, number int) string {
	if limit := run.Policy.Limits.Iterations; limit > 0 {
		return fmt.Sprintf("%d/%d", number, run.Clock.Granted.Iterations+limit)
	}
	return strconv.Itoa(number)
}

// unusualEndText returns only the unusual about the end of an attempt. The next event shows the rest.
func unusualEndText(run journal.Run, e journal.AgentEnded) string {
	var parts []string
	switch {
	case e.CannotRun:
		parts = append(parts, "Fatal error: "+oneLine(e.Why))
	case e.TimedOut:
		limit := run.Policy.Limits.Iteration.Std().String()
		parts = append(parts, "Agent timeout after "+limit+", killing process group")
		parts = append(parts, "Process group killed, treating as failure")
	}
	if e.Swept > 0 {
		parts = append(parts, fmt.Sprintf("Active children ended: %d", e.Swept))
	}
	return strings.Join(parts, "\n")
}

func exitText(e journal.AgentEnded) string {
	switch {
	case e.TimedOut:
		return "Agent timed out"
	case e.Failed && e.Exit == 0:
		return "Transient error: " + oneLine(e.Why)
	case e.Signal != "":
		return fmt.Sprintf("Agent failed with exit code %d (%s)", e.Exit, oneLine(e.Signal))
	case e.Failed:
		return fmt.Sprintf("Agent failed with exit code %d", e.Exit)
	}
	return fmt.Sprintf("Agent ended with exit code %d", e.Exit)
}

// restartText returns how an attempt ended and that another follows. After the last one none does, but the task can
// still become done.
func restartText(run journal.Run) string {
	it, found := run.LastJudged()
	if !found || it.Agent == nil {
		return ""
	}
	next := attemptNumber(run, it.Number+1)
	limit := run.Policy.Limits.Iterations
	wasLast := limit > 0 && run.UsedIterations() >= limit
	switch {
	case wasLast && it.Agent.TimedOut:
		return ""
	case wasLast:
		return exitText(*it.Agent)
	case it.Agent.TimedOut:
		return "Restarting agent" + next
	case it.Agent.Failed:
		return exitText(*it.Agent) + ", restarting" + next
	}
	return exitText(*it.Agent) + " and no DONE marker, restarting" + next
}

func taskSettledText(e journal.TaskSettled) string {
	parts := []string{oneLine(e.Words)}
	switch e.Reason { //nolint:exhaustive // e.Words is enough for the others
	case policy.MaxIterations:
		parts[0] = "Max restarts exceeded, stopping"
	case policy.Waiting:
		parts[0] = "Wait-without-restart signal detected: " + parts[0]
	}
	for _, why := range e.Failed {
		parts = append(parts, "could not "+oneLine(why))
	}
	return strings.Join(parts, "\n")
}

// supervisedNext returns what to do about a command that is not started again.
func supervisedNext(run journal.Run) string {
	switch run.Stop.Reason.Status() {
	case policy.StatusCompleted:
		return ""
	case policy.StatusWaiting:
		return "when it no longer has to wait, start `ralph supervise` again"
	case policy.StatusFailed:
		return "fix that, then start `ralph supervise` again"
	case policy.StatusStopped, policy.StatusCancelled, policy.StatusRunning:
	}
	return "start `ralph supervise` again"
}

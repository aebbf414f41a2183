package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// supervision is Line for the events that a supervised command shares with agents; not
// for those that are told the same way.
func supervision(run journal.Run, event journal.Event) (line string, told bool) {
	switch e := event.(type) { //nolint:gochecksumtype // the others are told the same way
	case journal.RunBegan:
		s := run.Policy.Supervision
		return fmt.Sprintf("run %s: supervising %s for task %s of project %s", run.ID, one(run.Policy.Agent), one(s.Task), one(s.Project)), true
	case journal.IterationBegan:
		return starting(run, e), true
	case journal.AgentEnded:
		return fell(e), true
	case journal.Paused:
		return restarting(run), true
	case journal.RunStopped:
		return over(run, e), true
	case journal.IterationEnded:
		if it, found := run.Last(); e.Done && found && it.Agent != nil {
			return howEnded(*it.Agent) + ", DONE marker present", true
		}
		return "", true
	}
	return "", false
}

// over is the end; why it came was said when it was settled.
func over(run journal.Run, e journal.RunStopped) string {
	if run.Settled != nil {
		e.Why = ""
	}
	line := stopped(e)
	if todo := supervised(run); todo != "" {
		line += "\nnext: " + todo
	}
	return line
}

// starting is for the first attempt: that there would be another was said
// before the delay.
func starting(run journal.Run, e journal.IterationBegan) string {
	if run.Used() > 1 {
		return ""
	}
	return "Starting agent" + attempt(run, e.Number)
}

// attempt is which one it is, of how many.
func attempt(run journal.Run, number int) string {
	most := run.Policy.Limits.Iterations
	if most == 0 {
		return fmt.Sprintf(" (attempt %d)", number)
	}
	return fmt.Sprintf(" (attempt %d/%d)", number, run.Granted.Iterations+most)
}

// fell is what is special about the end of an attempt; what is usual is said
// together with what comes of it.
func fell(e journal.AgentEnded) string {
	var parts []string
	switch {
	case e.CannotRun:
		parts = append(parts, "Fatal error: "+one(e.Why))
	case e.TimedOut:
		_, limit, _ := strings.Cut(e.Why, "agent timeout after ")
		parts = append(parts, "Agent timeout after "+one(limit)+", killing process group", "Process group killed, treating as failure")
	}
	if e.Swept > 0 {
		parts = append(parts, fmt.Sprintf("Active children ended: %d", e.Swept))
	}
	return strings.Join(parts, "\n")
}

func howEnded(e journal.AgentEnded) string {
	switch {
	case e.TimedOut:
		return "Agent timed out"
	case e.Failed && e.Exit == 0:
		return "Transient error: " + one(e.Why)
	case e.Signal != "":
		return fmt.Sprintf("Agent failed with exit code %d (%s)", e.Exit, one(e.Signal))
	case e.Failed:
		return fmt.Sprintf("Agent failed with exit code %d", e.Exit)
	}
	return fmt.Sprintf("Agent ended with exit code %d", e.Exit)
}

// restarting tells what comes of an attempt, as the delay before the next one
// begins. After the last there is a delay too, in which it may yet be done.
func restarting(run journal.Run) string {
	it, found := run.Last()
	if !found || it.Agent == nil {
		return ""
	}
	next := attempt(run, it.Number+1)
	last := run.Policy.Limits.Iterations > 0 && run.Used() >= run.Policy.Limits.Iterations
	switch {
	case last && it.Agent.TimedOut:
		return ""
	case last:
		return howEnded(*it.Agent)
	case it.Agent.TimedOut:
		return "Restarting agent" + next
	case it.Agent.Failed:
		return howEnded(*it.Agent) + ", restarting" + next
	}
	return howEnded(*it.Agent) + " and no DONE marker, restarting" + next
}

// settled is how a task ended, in the words of its buses.
func settled(e journal.TaskSettled) string {
	parts := []string{one(e.Words)}
	switch e.Reason { //nolint:exhaustive // of the other reasons the words say enough
	case policy.MaxIterations:
		parts[0] = "Max restarts exceeded, stopping"
	case policy.Waiting:
		parts[0] = "Wait-without-restart signal detected: " + parts[0]
	}
	for _, why := range e.Failed {
		parts = append(parts, "could not "+one(why))
	}
	return strings.Join(parts, "\n")
}

// supervised is what to do now about a command that is no longer started again.
func supervised(run journal.Run) string {
	switch run.Stop.Reason.Status() {
	case policy.StatusCompleted:
		return ""
	case policy.StatusWaiting:
		return "once it need not wait any more, start `ralph supervise` again"
	case policy.StatusFailed:
		return "fix that, then start `ralph supervise` again"
	case policy.StatusStopped, policy.StatusCancelled, policy.StatusRunning:
	}
	return "start `ralph supervise` again"
}

package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Line is what the log says of an event; empty for one that is no news there.
// Run is the run after it.
func Line(run journal.Run, event journal.Event) string {
	switch e := event.(type) {
	case journal.RunBegan:
		return fmt.Sprintf("run %s on %s: %s, agent %s, sandbox level %s", e.Run, short(e.Start), plural(len(e.Plan.UserStories), "story"), e.Policy.Agent, e.Level)
	case journal.Resumed:
		return "going on with run " + run.ID + ": " + e.Why
	case journal.Noted:
		return strings.TrimSuffix("note: "+e.What+" – "+e.Hint, " – ")
	case journal.CheckEnded:
		return checked(e)
	case journal.BaselineEnded:
		return strings.TrimSuffix("base looked at: "+e.Why, ": ")
	case journal.IterationBegan:
		return fmt.Sprintf("iteration %d: %s", e.Number, e.Story)
	case journal.AgentEnded:
		return worked(e)
	case journal.PlanRead:
		return planned(e)
	case journal.CommitsTaken:
		return taken(e)
	case journal.ProofEnded:
		return proved(e)
	case journal.IterationEnded:
		return judged(e)
	case journal.RunStopped:
		return strings.TrimSuffix(fmt.Sprintf("run %s: %s: %s", e.Reason.Status(), e.Reason, e.Why), ": ")
	case journal.Pushed:
		return "pushed " + short(e.SHA) + " to " + e.Branch
	case journal.PullOpened:
		return fmt.Sprintf("pull request #%d: %s", e.Number, e.URL)
	case journal.PullReadied:
		return fmt.Sprintf("pull request #%d is ready for review", e.Number)
	case journal.PublishFailed:
		return "could not " + e.Act + ": " + e.Why
	case journal.CommentPosted:
		return "progress comment: " + e.URL
	case journal.CancelAsked:
		return "stopping: " + e.Why
	}
	return ""
}

func checked(e journal.CheckEnded) string {
	how := "passed"
	switch {
	case e.TimedOut:
		how = "ran out of time"
	case e.CannotRun:
		how = fmt.Sprintf("cannot run (exit %d)", e.Exit)
	case !e.Passed:
		how = fmt.Sprintf("failed (exit %d)", e.Exit)
	}
	where := map[journal.Where]string{
		journal.AtBase:  "at the base",
		journal.AtWork:  "in the agent's tree",
		journal.AtProof: "on a clean checkout",
	}[e.Where]
	return fmt.Sprintf("  check %s %s %s, %s", e.Name, how, where, policy.Short(e.Took()))
}

func worked(e journal.AgentEnded) string {
	how := "agent ended"
	if e.Failed {
		how = "agent failed: " + e.Why
	}
	return fmt.Sprintf("  %s, %s, %s, %s", how, plural(e.Tools, "tool call"), money(e.Cost.USD, e.Cost.Known), policy.Short(e.Took()))
}

func planned(e journal.PlanRead) string {
	var parts []string
	if len(e.Claimed) > 0 {
		parts = append(parts, "  the agent claims "+strings.Join(e.Claimed, ", "))
	}
	for _, what := range e.Undone {
		parts = append(parts, "  put back: "+what)
	}
	return strings.Join(parts, "\n")
}

func taken(e journal.CommitsTaken) string {
	var parts []string
	for _, commit := range e.Commits {
		parts = append(parts, "  took "+short(commit.SHA)+" "+commit.Subject)
	}
	for _, path := range e.Dropped {
		parts = append(parts, "  protected file put back: "+path)
	}
	for _, finding := range e.Refused {
		parts = append(parts, "  refused "+strings.TrimSpace(short(finding.Commit)+" "+finding.Path)+": "+finding.Why)
	}
	return strings.Join(parts, "\n")
}

func proved(e journal.ProofEnded) string {
	switch {
	case e.Reused:
		return "  the same tree was checked before: " + short(e.Commit)
	case !e.Passed:
		return "  " + short(e.Commit) + " failed on a clean checkout: " + e.Why
	case e.Empty:
		return "  " + short(e.Commit) + ": nothing could be verified"
	}
	return "  " + short(e.Commit) + " passed on a clean checkout"
}

func judged(e journal.IterationEnded) string {
	var parts []string
	for _, id := range e.Passed {
		parts = append(parts, "  "+id+" passed")
	}
	for _, rejected := range e.Rejected {
		parts = append(parts, "  rejected: "+rejected.Claim+": "+rejected.Why)
	}
	if len(parts) == 0 {
		return "  " + e.Story + " is still open"
	}
	return strings.Join(parts, "\n")
}

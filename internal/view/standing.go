package view

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// storyCount is how far the stories are.
func storyCount(run journal.Run) string {
	text := fmt.Sprintf("%d of %s passed", run.Passed(), plural(len(run.Plan.UserStories), "story"))
	proven := 0
	for _, s := range run.Plan.UserStories {
		if verdict.IsStoryProven(run, s) {
			proven++
		}
	}
	if proven == 0 {
		return text
	}
	return fmt.Sprintf("%s, %d proven", text, proven)
}

// fullSHA is the name of one, whole.
var fullSHA = pattern.Of(`^[0-9a-f]{40}$`)

// stateRef is the name of one of ours.
var stateRef = pattern.Of(`^refs/ralph/[a-z0-9-]+$`)

// savedCommit is the commit under which the run was kept last; nothing else gets into
// the mark that vouches for it.
func savedCommit(run journal.Run) string {
	if run.Shelved == nil || fullSHA.FindString(run.Shelved.Commit) == "" {
		return ""
	}
	return run.Shelved.Commit
}

// savedCommitOnRef is what the pull request says of where a run without an issue is kept:
// there is no comment to say it.
func savedCommitOnRef(run journal.Run) string {
	if kept := savedCommit(run); kept != "" && run.Task.Number == 0 && stateRef.MatchString(run.Shelved.Ref) {
		return kept + " on " + run.Shelved.Ref
	}
	return ""
}

// isSessionLoop tells of a loop within a session of Claude Code, whose hooks are all
// of ralph that is at work on it.
func isSessionLoop(run journal.Run) bool { return run.Policy.Done == policy.ByPromise }

// sessionHeadline is where such a loop runs, since when, and how far it is.
func sessionHeadline(run journal.Run) string {
	where := "a Claude Code session"
	if id := lastSession(run); id != "" {
		where = "the Claude Code session " + clean.Inline(id, 100)
	}
	return fmt.Sprintf("runs in %s since %s, sent back to work %d of at most %s", where,
		run.Granted.At.UTC().Format("2006-01-02 15:04 UTC"), max(run.Used()-1, 0), plural(run.Policy.Limits.Iterations, "time"))
}

// sessionContinuation is how a loop within a session is gone on with.
func sessionContinuation(run journal.Run) string {
	again := "`/ralph-loop --resume` in a Claude Code session of this project"
	switch id := lastSession(run); {
	case run.Completed():
		return ""
	case run.Stop == nil && shellSafeID.MatchString(id):
		return "if that session was closed, open it again with `claude --resume " + id + "`, or continue with " + again
	case run.Stop == nil:
		return "if that session was closed, open it again, or continue with " + again
	}
	return "continue with " + again
}

// shellSafeID is a session's id that a shell takes as one word.
var shellSafeID = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// lastSession is the session that the loop was in last.
func lastSession(run journal.Run) string {
	if n := len(run.Iterations); n > 0 {
		return run.Iterations[n-1].Session
	}
	return ""
}

// elapsed is how long the run had gone on when it stopped, or when an iteration
// last began or ended: that time goes by is no reason to edit what people read.
func elapsed(run journal.Run) string {
	at := run.Began
	if last, found := run.Last(); found {
		at = last.Last
	}
	if open, found := run.Open(); found {
		at = open.Began
	}
	if run.Stop != nil {
		at = run.Now
	}
	return policy.Short(at.Sub(run.Began))
}

// State is how a run stands in one word, by which people filter.
type State string

// Running is at work; NeedsInput waits for people's word, Review for their eyes;
// Stopped stopped short. A run that left nothing to look at has none.
const (
	Running    State = "running"
	NeedsInput State = "needs-input"
	Review     State = "review"
	Stopped    State = "stopped"
)

// States are all of them.
func States() []State { return []State{Running, NeedsInput, Review, Stopped} }

// Label is the label that says so.
func (s State) Label() string { return "ralph:" + string(s) }

func stateOf(run journal.Run) State {
	switch {
	case run.Stop == nil:
		return Running
	case run.Stop.Reason == policy.NeedsInput:
		return NeedsInput
	case !run.Completed():
		return Stopped
	case run.Pull != nil:
		return Review
	}
	return ""
}

// quietWorkflows is why the repository's own workflows say nothing of the branch, and
// what has them start; empty where they start by themselves.
func quietWorkflows(run journal.Run) string {
	if run.Comment == nil || !run.Comment.Quiet || run.Pull == nil && !run.Policy.NoPull || run.Pushed == "" {
		return ""
	}
	return "GitHub does not run your workflows on commits that a job's own token pushed, or waits for your approval. To run them, press **Approve workflows to run** on the pull request's page, or close and reopen it. " +
		"With the input `ci-token`, or with a GitHub App, they run by themselves"
}

// EndMessage is a run that has ended, in one line for a message.
func EndMessage(run journal.Run) string {
	return fmt.Sprintf("ralph %s after %s, %s, %s", Headline(run), plural(len(run.Iterations), "iteration"),
		policy.Short(run.Now.Sub(run.Began)), CostText(run.CostUSD, run.CostKnown))
}

// commandBox is the box in the comment that does what a command does, where the
// workflow has switched that on and there is room.
func commandBox(run journal.Run, room int) string {
	box := commandButton(run)
	if box == "" || len(box)+2 > room {
		return ""
	}
	return "\n" + box + "\n"
}

// commandButton is the one thing to do with a run as it stands that takes no words.
func commandButton(run journal.Run) string {
	switch {
	case !run.Policy.Buttons:
		return ""
	case run.Stop == nil:
		return trigger.Button(trigger.Stop, "stop this run; its work is kept")
	case verdict.NeedsApproval(run):
		return trigger.Button(trigger.Approve, "start work on this plan")
	case run.Completed() || run.Stop.Reason == policy.NeedsInput: // an answer takes words
		return ""
	}
	return trigger.Button(trigger.Resume, "continue this run")
}

// CommandProblem is why help is the answer to another request.
func CommandProblem(c trigger.Command) string {
	said := Code(c.Said, 80)
	switch {
	case c.Said == "" && c.Why == "":
		return ""
	case c.Said == "":
		return fmt.Sprintf("Sorry, %s.", c.Why)
	case c.Why != "":
		return fmt.Sprintf("%s is not allowed: %s.", said, c.Why)
	case c.Nearest != "":
		return fmt.Sprintf("Unknown: %s. Did you mean `%s`?", said, c.Nearest)
	}
	return fmt.Sprintf("Unknown: %s. Put words for the agent after `--`.", said)
}

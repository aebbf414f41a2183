package view

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Judged tells whether there is anything to say of its proof.
func (s story) Judged() bool { return s.Worth != "–" }

// standing is how far the stories are.
func standing(run journal.Run) string {
	text := fmt.Sprintf("%d of %s passed", run.Passed(), plural(len(run.Plan.UserStories), "story"))
	proven := 0
	for _, s := range run.Plan.UserStories {
		if verdict.StoryProven(run, s) {
			proven++
		}
	}
	if proven == 0 {
		return text
	}
	return fmt.Sprintf("%s, %d proven", text, proven)
}

// commit is the name of one, whole.
var commit = pattern.Of(`^[0-9a-f]{40}$`)

// ref is the name of one of ours.
var ref = pattern.Of(`^refs/ralph/[a-z0-9-]+$`)

// shelved is the commit under which the run was kept last; nothing else gets into
// the mark that vouches for it.
func shelved(run journal.Run) string {
	if run.Shelved == nil || commit.FindString(run.Shelved.Commit) == "" {
		return ""
	}
	return run.Shelved.Commit
}

// vouches is what the pull request says of where a run without an issue is kept:
// there is no comment to say it.
func vouches(run journal.Run) string {
	if kept := shelved(run); kept != "" && run.Task.Number == 0 && ref.MatchString(run.Shelved.Ref) {
		return kept + " on " + run.Shelved.Ref
	}
	return ""
}

// inSession tells of a loop within a session of Claude Code, whose hooks are all
// of ralph that is at work on it.
func inSession(run journal.Run) bool { return run.Policy.Done == policy.ByPromise }

// session is where such a loop runs, since when, and how far it is.
func session(run journal.Run) string {
	where := "a Claude Code session"
	if id := sessionOf(run); id != "" {
		where = "the Claude Code session " + clean.Inline(id, 100)
	}
	return fmt.Sprintf("runs in %s since %s, sent back to work %d of at most %s", where,
		run.Granted.At.UTC().Format("2006-01-02 15:04 UTC"), max(run.Used()-1, 0), plural(run.Policy.Limits.Iterations, "time"))
}

// reopened is how a loop within a session is gone on with.
func reopened(run journal.Run) string {
	again := "`/ralph-loop --resume` in a Claude Code session of this project"
	switch id := sessionOf(run); {
	case run.Completed():
		return ""
	case run.Stop == nil && plainID.MatchString(id):
		return "if that session was closed, open it again with `claude --resume " + id + "`, or go on with " + again
	case run.Stop == nil:
		return "if that session was closed, open it again, or go on with " + again
	}
	return again + " goes on"
}

// plainID is a session's id that a shell takes as one word.
var plainID = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// sessionOf is the session that the loop was in last.
func sessionOf(run journal.Run) string {
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

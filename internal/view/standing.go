package view

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Judged tells whether there is anything to say of its proof.
func (s story) Judged() bool { return s.Worth != "–" }

// standing is how far the stories are.
func standing(run journal.Run) string {
	text := fmt.Sprintf("%d of %s passed", run.Passed(), plural(len(run.Plan.UserStories), "story"))
	proven := 0
	for _, s := range run.Plan.UserStories {
		if run.StoryProven(s) {
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

package view

import (
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// boxes is the box in the comment that does what a command does, where the
// workflow has switched that on and there is room.
func boxes(run journal.Run, room int) string {
	box := button(run)
	if box == "" || len(box)+2 > room {
		return ""
	}
	return "\n" + box + "\n"
}

// button is the one thing to do with a run as it stands that takes no words.
func button(run journal.Run) string {
	switch {
	case !run.Policy.Buttons:
		return ""
	case run.Stop == nil:
		return trigger.Button(trigger.Stop, "stop this run; its work is kept")
	case verdict.Unapproved(run):
		return trigger.Button(trigger.Approve, "have this plan worked on")
	case run.Completed() || run.Stop.Reason == policy.NeedsInput: // an answer takes words
		return ""
	}
	return trigger.Button(trigger.Resume, "go on with this run")
}

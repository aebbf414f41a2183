package action

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/view"
)

// answer is a comment of its own, where the request was made: in the thread, if
// it was made in one. No secret stands in it, wherever its words come from.
func (v *visit) answer(ctx context.Context, text string) error {
	text = v.words(text)
	if !strings.Contains(text, trigger.Marker) { // by which we know it again, and do not listen to ourselves
		text += "\n\n" + trigger.Marker + "answer -->"
	}
	var err error
	switch thread := v.trigger.Comment.Thread.ID; {
	case v.task.Number == 0: // there is no place but the log
		v.say(text)
	case thread != 0:
		_, err = v.client.Reply(ctx, v.task.Number, thread, text)
	default:
		_, err = v.client.CreateComment(ctx, v.task.Number, text)
	}
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// conclude tells those in whose thread the work was asked for how it ended. All
// of it stands in the progress comment.
func (v *visit) conclude(ctx context.Context, run journal.Run) {
	if v.trigger.Comment.Thread.ID == 0 || run.Stop == nil || run.Stop.Reason == policy.NeedsInput {
		return
	}
	text := "**ralph: " + view.Headline(run) + "**"
	if len(run.Head) > 7 {
		text += " · " + run.Head[:7]
	}
	if url := v.commentURL(run); url != "" {
		text += " · [all of it](" + url + ")"
	}
	if err := v.answer(ctx, text); err != nil {
		v.say(fault.Told(err))
	}
}

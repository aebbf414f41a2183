package action

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/view"
)

// changed is the answer to who approves a plan that nobody could read.
const changed = "The progress comment did not show the plan any more that would be worked on: it had been changed. " +
	"Now it does: read it, and comment `/ralph approve`."

// readable refuses an approval where the comment shows another plan than the one
// that was kept: many may edit it, and what is approved is what people read. It
// is shown again first.
func (v *visit) readable(ctx context.Context, old journal.Run) error {
	if v.command.Verb != trigger.Approve {
		return nil
	}
	shown, err := v.hub.shows(ctx, view.Planned(old), v.trigger)
	if err != nil || shown {
		return err
	}
	_, text, _ := strings.Cut(view.Of(old).Comment, "\n") // the marks are tell's
	if err := v.hub.tell(ctx, text); err != nil {
		return err
	}
	return declined{changed}
}

// shows tells whether the progress comment holds a text as it was written, and
// held it when t was done.
func (h *hub) shows(ctx context.Context, text string, t trigger.Trigger) (bool, error) {
	h.shown.Lock()
	defer h.shown.Unlock()
	found, is, err := h.client.FindComment(ctx, h.issue, marker)
	body := strings.ReplaceAll(found.Body, "\r\n", "\n") // as a browser sends it for a box that was ticked
	return is && found.ReadBefore(t) && strings.Contains(body, "\n\n"+h.hide(text)+"\n\n"), err
}

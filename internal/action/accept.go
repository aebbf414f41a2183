package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/view"
)

// accept asks GitHub what the one who asked may do, and what the event did not
// tell; then what was asked for is a task, or is refused.
func (v *visit) accept(ctx context.Context) (*trigger.Refusal, error) {
	permission := trigger.None
	if asker := v.trigger.Asker(); !v.inputs.Rules.Vouches(asker) {
		word, err := v.client.Permission(ctx, asker.Login)
		if err != nil {
			return nil, err
		}
		permission = trigger.Permission(word)
	}
	// Before anything else is asked: what strangers cause must cost little.
	if _, refusal := trigger.Accept(v.trigger, v.command, v.inputs.Rules, permission); refusal != nil {
		return refusal, nil
	}
	v.known = true
	if refusal, err := v.ours(ctx); refusal != nil || err != nil {
		return refusal, err
	}
	if refusal, err := v.fetch(ctx); refusal != nil || err != nil {
		return refusal, err
	}
	whole, err := v.client.Complete(ctx, v.trigger)
	if err != nil {
		return nil, err
	}
	v.trigger = whole
	task, refusal := trigger.Accept(v.trigger, v.command, v.inputs.Rules, permission)
	if refusal == nil {
		refusal, err = v.asOf(ctx)
	}
	if refusal != nil || err != nil {
		return refusal, err
	}
	v.task = task
	if err := v.settle(ctx); err != nil {
		return nil, err
	}
	if err := v.hold(ctx); err != nil { // to all that the others said
		return nil, err
	}
	v.tighten()
	v.react(ctx, github.Eyes) // before what takes its time
	return nil, v.gather(ctx)
}

// ours makes sure that the button which somebody pressed is one that we made:
// anybody can write a comment that looks like ours.
func (v *visit) ours(ctx context.Context) (*trigger.Refusal, error) {
	if v.trigger.Comment.Pressed == "" || v.trigger.Action != "edited" {
		return nil, nil
	}
	c := v.trigger.Comment
	wrote, err := v.client.Wrote(ctx, c.Author, c.AuthorIsBot)
	if err != nil || wrote {
		return nil, err
	}
	return &trigger.Refusal{Why: "the comment with the button is not our own", Silent: true}, nil
}

// asOf makes sure that an issue which was named by its number still says what it
// said then: the event did not bring its text along. Where GitHub does not let
// us know when that was, it is taken as it stands.
func (v *visit) asOf(ctx context.Context) (*trigger.Refusal, error) {
	id, err := strconv.ParseInt(v.env.RunID, 10, 64)
	if !v.named || v.trigger.OnPull() || err != nil {
		return nil, nil //nolint:nilerr // a job without a number has no date either
	}
	began, known, err := v.client.JobBegan(ctx, id)
	if err != nil || !known {
		return nil, err
	}
	v.trigger.At = began
	edited, err := v.client.LastEdited(ctx, v.trigger.Issue.Number)
	switch {
	case err != nil && github.Withheld(err), err == nil && edited.Before(began):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return changedSince(v.trigger.Issue.Number), nil
}

func changedSince(issue int) *trigger.Refusal {
	return &trigger.Refusal{Why: fmt.Sprintf("#%d was edited after work on it was asked for: read it, and ask again", issue)}
}

// tighten has the flags of a comment obeyed, or the comment answered.
func (v *visit) tighten() {
	p, err := v.command.Flags.Tighten(v.inputs.Policy, v.offered)
	if loose, is := errors.AsType[trigger.Loose](err); is {
		v.command = trigger.Refused(loose.Flag, loose.Why)
		return
	}
	v.inputs.Policy = p
}

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

// relay takes over what a GitHub App's server has read, where one has started
// this job. Whoever may start workflows could say there what they like, in
// anybody's name: it is believed of a bot that the workflow names.
func (v *visit) relay(payload []byte) error {
	relayed, is, err := github.ReadRelayed(payload)
	if !is || v.env.EventName != "workflow_dispatch" {
		return nil
	}
	by := v.trigger.Sender
	switch {
	case err != nil:
		return fault.Usage("cannot read what the App's server sent", "let the server and the Action be of one version", err)
	case !by.IsBot || !v.inputs.Rules.Vouches(by):
		return fault.Usage("the input `delivery` comes from "+by.Login+", which is not one of `allow-bots`",
			"name the App's bot there, if it is yours", nil)
	case !strings.EqualFold(relayed.Trigger.Repo.String(), v.env.Repository):
		return fault.Usage("the input `delivery` is of another repository: "+relayed.Trigger.Repo.String(), "dispatch it there", nil)
	}
	v.trigger, v.relayed = relayed.Trigger, relayed
	return nil
}

// fetch adds the text that was too long for the server to send, unless it was
// edited since.
func (v *visit) fetch(ctx context.Context) (*trigger.Refusal, error) {
	if v.relayed.Digest == "" {
		return nil, nil
	}
	text, same, err := v.client.Fetch(ctx, v.relayed)
	if err == nil && !same {
		return changedSince(v.trigger.Issue.Number), nil
	}
	v.trigger.Issue.Body = text
	return nil, err
}

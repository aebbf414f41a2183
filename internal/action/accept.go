package action

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// accept asks GitHub for permissions and missing facts, and makes a task or a refusal.
func (v *visit) accept(ctx context.Context) (*trigger.Refusal, error) {
	known, refusal, err := v.permitted(ctx)
	if refusal != nil || err != nil {
		return refusal, err
	}
	v.known = true
	if err := v.learn(ctx, &known); err != nil {
		return nil, err
	}
	if v.task, refusal = trigger.Accept(v.trigger, v.command, v.inputs.Rules, known); refusal != nil {
		return refusal, nil
	}
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

// permitted comes before other calls: strangers must cost little.
func (v *visit) permitted(ctx context.Context) (known trigger.RequestFacts, refusal *trigger.Refusal, err error) {
	if asker := v.trigger.Asker(); !v.trigger.IsAutomatic() && !v.inputs.Rules.IsAllowed(asker) {
		word, err := v.client.Permission(ctx, asker.Login)
		if err != nil {
			return known, nil, err
		}
		known.Permission = trigger.Permission(word)
	}
	_, refusal = trigger.Accept(v.trigger, v.command, v.inputs.Rules, known)
	return known, refusal, nil
}

func (v *visit) learn(ctx context.Context, known *trigger.RequestFacts) (err error) {
	if known.Forged, err = v.forged(ctx); known.Forged || err != nil {
		return err
	}
	if v.relayed.Digest != "" { // the text was too long for the server to send
		text, same, err := v.client.Fetch(ctx, v.relayed)
		if known.Edited = !same; err != nil || known.Edited {
			return err
		}
		v.trigger.Issue.Body = text
	}
	if v.trigger, err = v.client.Complete(ctx, v.trigger); err != nil {
		return err
	}
	if pull := &v.trigger.Pull; pull.Ours && pull.Author != "" { // the mark in its text can be anyone's
		if pull.Ours, err = v.client.Opened(ctx, pull.Author, v.starter); err != nil {
			return err
		}
	}
	known.Edited, err = v.edited(ctx)
	return err
}

// forged: anybody can write a comment that looks like ours.
func (v *visit) forged(ctx context.Context) (bool, error) {
	c := v.trigger.Comment
	if c.Pressed == "" || v.trigger.Action != "edited" {
		return false, nil
	}
	wrote, err := v.client.Wrote(ctx, c.Author)
	return err == nil && !wrote, err
}

// edited tells whether an issue which was named by its number says something else
// than when work on it was asked for: the event did not bring its text along.
// Where GitHub does not let us know when that was, it is taken as it stands.
func (v *visit) edited(ctx context.Context) (bool, error) {
	id, err := strconv.ParseInt(v.env.RunID, 10, 64)
	if !v.named || v.trigger.IsOnPull() || err != nil {
		return false, nil //nolint:nilerr // a job without a number has no date either
	}
	began, known, err := v.client.JobBegan(ctx, id)
	if err != nil || !known {
		return false, err
	}
	v.trigger.At = began
	edited, err := v.client.LastEdited(ctx, v.trigger.Issue.Number)
	if err != nil && github.Withheld(err) {
		return false, nil
	}
	return err == nil && !edited.Before(began), err
}

// tighten applies the flags of a comment, or answers it.
func (v *visit) tighten() {
	p, err := v.command.Flags.Tighten(v.inputs.Policy, v.offered)
	if loose, is := errors.AsType[trigger.FlagError](err); is {
		v.command = trigger.RefusedCommand(loose.Flag, loose.Why)
		return
	}
	v.inputs.Policy = p
}

// relay takes over what a GitHub App's server read, if the server started this
// job. Everyone who may start workflows could fake this input, so only a bot
// that the workflow names is trusted.
func (v *visit) relay(payload []byte) error {
	relayed, is, err := github.ReadRelayed(payload)
	if !is || v.env.EventName != "workflow_dispatch" {
		return nil
	}
	by := v.trigger.Sender
	switch {
	case err != nil:
		return fault.Usage("cannot read the delivery of the App's server", "use the same version of the server and the Action", err)
	case !by.IsBot || !v.inputs.Rules.IsAllowed(by):
		return fault.Usage("the input `delivery` comes from "+by.Login+", which is not one of `allow-bots`",
			"if the bot is your App's, add it there", nil)
	case !strings.EqualFold(relayed.Trigger.Repo.String(), v.env.Repository):
		return fault.Usage("the input `delivery` is for another repository: "+relayed.Trigger.Repo.String(), "dispatch it there", nil)
	}
	v.trigger, v.relayed = relayed.Trigger, relayed
	return nil
}

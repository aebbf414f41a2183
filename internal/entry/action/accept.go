package action

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

func (h *handler) checkRequest(ctx context.Context) (*trigger.Refusal, error) {
	known, refusal, err := h.mayStart(ctx)
	if refusal != nil || err != nil {
		return refusal, err
	}
	h.known = true
	if err := h.fetchMissingFacts(ctx, &known); err != nil {
		return nil, err
	}
	if refusal = trigger.Accept(h.trigger, h.command, h.inputs.Rules, known); refusal != nil {
		return refusal, nil
	}
	if err := h.readPages(ctx); err != nil {
		return nil, err
	}
	h.task = h.trigger.Task(h.command)
	if err := h.applySettings(ctx); err != nil {
		return nil, err
	}
	h.command, h.inputs.Policy = h.command.Tighten(h.inputs.Policy, h.isModelServed)
	h.react(ctx, github.Eyes) // before what takes its time
	return nil, h.readDiscussion(ctx)
}

// mayStart comes before other calls: strangers must cost little.
func (h *handler) mayStart(ctx context.Context) (known trigger.RequestFacts, refusal *trigger.Refusal, err error) {
	if asker := h.trigger.Asker(); h.needsPermission(asker) {
		if known.Permission, err = h.client.Permission(ctx, asker.Login); err != nil {
			return known, nil, err
		}
	}
	refusal = trigger.Accept(h.trigger, h.command, h.inputs.Rules, known)
	return known, refusal, nil
}

// needsPermission reports whether GitHub is asked for the permission of the asker.
func (r request) needsPermission(asker trigger.Sender) bool {
	return !r.trigger.IsAutomatic() && !r.inputs.Rules.IsAllowed(asker)
}

func (h *handler) fetchMissingFacts(ctx context.Context, known *trigger.RequestFacts) error {
	var err error
	if known.Forged, err = h.isForgedComment(ctx); known.Forged || err != nil {
		return err
	}
	if h.relayed.Digest != "" { // the text was too long for the server to send
		issue, same, err := h.client.RelayedText(ctx, h.relayed)
		known.Edited = !same
		if err != nil || known.Edited {
			return err
		}
		h.trigger.Issue.Body = issue.Body
		h.trigger.Issue.HTML = issue.HTML
	}
	if h.trigger, err = h.client.Complete(ctx, h.trigger); err != nil {
		return err
	}
	if pull := &h.trigger.Pull; pull.Ours && pull.Author != "" { // the mark in its text can be anyone's
		if pull.Ours, err = h.client.Opened(ctx, pull.Author); err != nil {
			return err
		}
	}
	known.Edited, err = h.wasEditedSince(ctx)
	return err
}

// isForgedComment: anybody can write a comment that looks like ours.
func (h *handler) isForgedComment(ctx context.Context) (bool, error) {
	c := h.trigger.Comment
	if c.Pressed == "" || h.trigger.Action != "edited" {
		return false, nil
	}
	wrote, err := h.client.Wrote(ctx, c.Author)
	if err != nil {
		return false, err
	}
	return !wrote, nil
}

// wasEditedSince reports whether an issue that was named by its number was edited after
// the request: the event does not contain its text. If GitHub does not tell the time of
// the request, the current text is used.
func (h *handler) wasEditedSince(ctx context.Context) (bool, error) {
	if !h.onlyNumber || h.trigger.IsOnPull() || h.env.Job == 0 {
		return false, nil
	}
	began, err := h.client.JobBegan(ctx, h.env.Job)
	if err != nil || began.IsZero() {
		return false, err
	}
	h.trigger.At = began
	edited, err := h.client.LastEdited(ctx, h.trigger.Issue.Number)
	if github.Withheld(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return h.trigger.IsEditedAt(edited), nil
}

// readRelayed uses what a GitHub App's server read, if the server started this job. Everyone
// who may start workflows can fake this input, so only bots that the workflow names are trusted.
func (h *event) readRelayed() error {
	relayed, ok, err := github.ReadRelayed(h.payload)
	if !ok || h.env.EventName != "workflow_dispatch" {
		return nil
	}
	by := h.trigger.Sender
	switch {
	case err != nil:
		return fault.Usage("cannot read the delivery of the App's server",
			"use the same version of the server and the Action", err)
	case !by.IsBot || !h.inputs.Rules.IsAllowed(by):
		return fault.Usage("the input `delivery` comes from "+by.Login+", which is not one of `allow-bots`",
			"if the bot is your App's, add it there", nil)
	case !strings.EqualFold(relayed.Trigger.Repo.String(), h.env.Repository):
		return fault.Usage("the input `delivery` is for another repository: "+relayed.Trigger.Repo.String(),
			"dispatch it there", nil)
	}
	h.trigger = relayed.Trigger
	h.relayed = relayed
	return nil
}

package action

import (
	"context"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

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

package action

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/hub/proofcheck"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// proveOrPublish proves a pull request, or publishes a proof that another job made.
func (h *handler) proveOrPublish(ctx context.Context) error {
	// Baselines that a push to the default branch saved are valid for a week.
	year, week := h.action.Now().UTC().ISOWeek()
	baselines := func(sb *confine.Sandbox) checkout.Kept {
		return h.machine.kept(sb, fmt.Sprintf("%d-%d", year, week), h.env.eventName == "push")
	}
	rules := func(file func(string) []byte) (policy.Policy, error) { return proofPolicy(*h.inputs, file) }
	j := proofcheck.Job{
		Event:     h.env.eventName,
		Payload:   h.request.payload,
		Workspace: h.env.workspace,
		Folder:    h.env.folder().Path,
		Git:       h.machine.git,
		Exec:      h.action.Exec,
		Sandbox:   h.machine.proofSandbox,
		Level:     h.inputs.Sandbox.Level,
		Rules:     rules,
		Env:       h.env.forAgent(),
		Needs:     h.inputs.Needs,
		Kept:      baselines,
		Say:       h.log.say,
		Hide:      h.log.clean,
		HideBytes: h.log.secrets.Bytes,
		Tell:      func(conclusion string) { h.log.writeOutputs([][2]string{{"proof", conclusion}}) },
	}
	if h.env.eventName == trigger.EventIssueComment {
		if why, err := h.mayAskForProof(ctx); why != "" || err != nil {
			h.log.say("not for ralph: " + why)
			return err
		}
		j.Asked = h.request.trigger.Issue.Number
	} else if err := h.connect(); err != nil {
		return err
	}
	var err error
	if h.request.trigger, err = h.client.Complete(ctx, h.request.trigger); err != nil {
		return err
	}
	j.Client = h.client
	j.Remote = h.remote
	j.Repo = h.request.trigger.Repo
	j.Base = cmp.Or(h.inputs.BaseBranch, h.request.trigger.Repo.DefaultBranch)
	if h.inputs.Mode == config.PublishProof {
		return j.Publish(ctx)
	}
	err = j.Prove(ctx)
	h.log.writeOutputs([][2]string{{"cache-key", h.machine.sandbox.SavedCaches()}})
	return err
}

// mayAskForProof returns why a comment asks for no proof; empty: it does.
func (h *handler) mayAskForProof(ctx context.Context) (string, error) {
	if why := h.request.readCommand(); why != "" {
		return why, nil
	}
	if h.request.command.Verb != trigger.Prove || !h.request.trigger.IsOnPull() {
		return "only `/ralph prove` on a pull request asks for a proof", nil
	}
	if err := h.connect(); err != nil {
		return "", err
	}
	_, refusal, err := h.gatherer.checkAsker(ctx)
	if refusal != nil {
		return refusal.Why, nil
	}
	return "", err
}

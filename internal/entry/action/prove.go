package action

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/hub/proofcheck"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

func (h *handler) proveOrPublish(ctx context.Context) error {
	j := proofcheck.Job{
		Event:     h.env.EventName,
		Payload:   h.payload,
		Workspace: h.env.Workspace,
		Folder:    h.env.folder(),
		Git:       h.git,
		Exec:      h.Exec,
		Sandbox:   h.proofSandbox,
		Level:     h.inputs.Sandbox.Level,
		Rules:     h.proofRules,
		Env:       h.agentEnv(),
		Needs:     h.inputs.Needs,
		Kept:      h.proofBaselines,
		Say:       h.say,
		Hide:      h.cleanText,
		HideBytes: h.secrets.Bytes,
		Tell:      func(conclusion string) { h.writeOutputs([][2]string{{"proof", conclusion}}) },
	}
	if h.env.EventName == trigger.EventIssueComment {
		if why, err := h.mayAskForProof(ctx); why != "" || err != nil {
			h.say("not for ralph: " + why)
			return err
		}
		j.Asked = h.trigger.Issue.Number
	} else if err := h.connect(); err != nil {
		return err
	}
	var err error
	if h.trigger, err = h.client.Complete(ctx, h.trigger); err != nil {
		return err
	}
	j.Client = h.client
	j.Remote = h.hostFor(0).remote()
	j.Repo = h.trigger.Repo
	j.Base = cmp.Or(h.inputs.BaseBranch, h.trigger.Repo.DefaultBranch)
	if h.inputs.Mode == config.PublishProof {
		return j.Publish(ctx)
	}
	err = j.Prove(ctx)
	h.writeOutputs([][2]string{{"cache-key", h.sandbox.SavedCaches()}})
	return err
}

// mayAskForProof returns why a comment asks for no proof; empty: it does.
func (h *handler) mayAskForProof(ctx context.Context) (string, error) {
	if why := h.whyIgnored(); why != "" {
		return why, nil
	}
	if h.command.Verb != trigger.Prove || !h.trigger.IsOnPull() {
		return "only `/ralph prove` on a pull request asks for a proof", nil
	}
	if err := h.connect(); err != nil {
		return "", err
	}
	_, refusal, err := h.mayStart(ctx)
	if refusal != nil {
		return refusal.Why, nil
	}
	return "", err
}

// proofSandbox has no agent and no model.
func (h *machine) proofSandbox(ctx context.Context) (*confine.Sandbox, error) {
	options := h.sandboxOptions(ctx)
	options.Model = confine.Model{}
	sb, err := confine.Start(ctx, options)
	h.sandbox = sb
	if err != nil {
		return sb, err
	}
	h.say(sb.Description(noSandbox))
	return sb, nil
}

// proofBaselines returns the baselines that a push to the default branch saved. They are valid for a week.
func (h *handler) proofBaselines(sb *confine.Sandbox) checkout.Kept {
	year, week := h.Now().UTC().ISOWeek()
	return h.kept(sb, fmt.Sprintf("%d-%d", year, week), h.env.EventName == "push")
}

func (h *event) proofRules(file func(string) []byte) (policy.Policy, error) {
	inputs := h.inputs
	data := file(workspace.SettingsFile)
	if inputs.Config != "" || data == nil { // a named file was applied at the start
		return inputs.Policy, nil
	}
	settings, err := config.ReadSettings(config.File{Name: workspace.SettingsFile, Data: data})
	if err != nil {
		return inputs.Policy, err
	}
	settings.ApplyToInputs(&inputs)
	return inputs.Policy, nil
}

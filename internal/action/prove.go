package action

import (
	"cmp"
	"context"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proofcheck"
	"github.com/ralph-loop/ralph/internal/trigger"
)

func (v *visit) proveOrPublish(ctx context.Context) (Result, error) {
	payload, err := event(v.env.EventPath)
	if err != nil {
		return Result{}, err
	}
	j := proofcheck.Job{
		Event: v.env.EventName, Payload: payload, Clone: v.clone(), Workspace: v.env.Workspace, Folder: v.env.folder(),
		Git: v.git, Exec: v.Exec, Sandbox: v.proofSandbox, Level: v.inputs.Sandbox.Level, Rules: v.proofRules,
		Env: v.agentEnv(), Needs: v.inputs.Needs, Say: v.say, Hide: v.words, HideBytes: v.secrets.Bytes,
		Retry: func(ctx context.Context, fetch func() (*git.Trusted, error)) (*git.Trusted, error) {
			return patiently(ctx, breath, fetch)
		},
		Tell: func(conclusion string) { v.set([][2]string{{"proof", conclusion}}) },
	}
	if v.env.EventName == trigger.EventIssueComment {
		if why, err := v.mayAskForProof(ctx); why != "" || err != nil {
			v.say("not for ralph: " + why)
			return Result{Skipped: why}, err
		}
		j.Asked = v.trigger.Issue.Number
	} else if err := v.connect(); err != nil {
		return Result{}, err
	}
	if v.trigger, err = v.client.Complete(ctx, v.trigger); err != nil {
		return Result{}, err
	}
	j.Client, j.Repo, j.Base = v.client, v.trigger.Repo, cmp.Or(v.inputs.BaseBranch, v.trigger.Repo.DefaultBranch)
	if v.inputs.DryRun {
		v.say("dry run: nothing is proven or published")
		return Result{Skipped: "a dry run"}, nil
	}
	do := j.Prove
	if v.inputs.Mode == config.PublishProof {
		do = j.Publish
	}
	why, err := do(ctx)
	return Result{Skipped: why}, err
}

// mayAskForProof is why a comment asks for no proof; empty: it does.
func (v *visit) mayAskForProof(ctx context.Context) (string, error) {
	if why := v.wanted(); why != "" {
		return why, nil
	}
	if v.command.Verb != trigger.Prove || !v.trigger.IsOnPull() {
		return "only `/ralph prove` on a pull request asks for a proof", nil
	}
	if err := v.connect(); err != nil {
		return "", err
	}
	_, refusal, err := v.permitted(ctx)
	if refusal != nil {
		return refusal.Why, nil
	}
	return "", err
}

// proofSandbox has no agent and no model.
func (v *visit) proofSandbox(ctx context.Context) (*confine.Sandbox, error) {
	sb, err := v.raise(ctx, nil, nil, v.inputs.Policy)
	if err == nil {
		v.say(sb.Said(noSandbox))
	}
	return sb, err
}

func (v *visit) proofRules(file func(string) []byte) (policy.Policy, error) {
	inputs, name := v.inputs, cmp.Or(v.inputs.Config, config.BaseSettings)
	if data := file(name); data != nil {
		settings, err := config.ReadSettings(config.File{Name: name, Data: data})
		if err != nil {
			return inputs.Policy, err
		}
		settings.ApplyToInputs(&inputs)
	}
	return inputs.Policy, nil
}

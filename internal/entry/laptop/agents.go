package laptop

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// findAgents finds the agents of a run, and what their sandbox is made of.
func (d *Project) findAgents(ctx context.Context, p policy.Policy) (job.Found, error) {
	found := job.Found{Policy: p}
	isNamed := d.Agent != ""
	name, options, err := d.Options()
	if err != nil {
		return found, err
	}
	if !isNamed && d.Default.Passed != "" {
		d.line(fmt.Sprintf("agent %s, because %s; --agent NAME chooses another", name, d.Default.Passed))
	}
	d.hideSecrets(options.Keys)
	found.Agent, err = job.Find(name, options, d.agentEnv, d.ProjectDir)
	if err != nil {
		return found, err
	}
	d.logAgent(found.Agent.Adapter, found.Agent.Program, p)
	if err := d.checkDocker(ctx, found.Agent.Program); err != nil {
		return found, err
	}
	found.Reviewer, err = d.findReviewer(options, p)
	if err != nil {
		return found, err
	}
	found.Sandbox, err = d.sandboxOptions(ctx, found.Agent, found.Reviewer, p)
	return found, err
}

// agentEnv returns the base of an agent's environment, with its own variables. In a sandbox it has
// only harmless variables and those that the settings name.
func (d *Project) agentEnv(vars ...string) []string {
	level, err := d.Wanted()
	switch {
	case level == InDocker:
		return environ.Local(d.environOutside(), vars...)
	case err != nil, level == sandbox.None:
		return environ.Local(d.World.Environ(), vars...)
	}
	return environ.Plain(d.World.Environ(), append(vars, d.Settings.Sandbox.Env...)...)
}

// hideSecrets hides these keys, and the secrets of checks, in all output.
func (d *Project) hideSecrets(keys ...agent.Keys) {
	secrets := d.Needs.Values()
	for _, k := range keys {
		secrets = append(secrets, k.Secrets()...)
	}
	d.secrets = redact.New(secrets...)
}

// findReviewer returns the second opinion; nil: there is none.
func (d *Project) findReviewer(own agent.Options, p policy.Policy) (*job.FoundAgent, error) {
	keys := agent.KeysFrom(d.World.Getenv, "", p.Review.Agent)
	d.hideSecrets(own.Keys, keys)
	options := agent.Options{
		Keys:   keys,
		Prices: own.Prices,
		Self:   own.Self,
		Hooks:  true,
		Docker: own.Docker,
	}
	return job.FindSecond(p.Review, options, d.agentEnv, d.ProjectDir)
}

// Options returns the name and the options of the agent that chooseAgent leaves, and chooses its key.
func (d *Project) Options() (string, agent.Options, error) {
	options, err := d.Settings.Agent.Options()
	if err != nil {
		return "", options, err
	}
	options.Command = cmp.Or(d.AgentCommand, options.Command)
	if d.Agent != "" && d.AgentCommand == "" {
		options.Command = ""
	}
	d.chooseAgent(options.Command)
	name := agent.NameOf(d.Agent, options.Command)
	options.Keys = agent.KeysFrom(d.World.Getenv, d.Agent, options.Command)
	options.Keys.ChooseKey(name, d.World.Environ())
	options.Self = d.World.Self
	options.Hooks = true
	if d.inDocker() {
		options.Docker = &agent.Docker{State: d.dockerLogin(), Pause: dockerSyncTime, SBX: d.hasSBX()}
	}
	if d.Agent == "scripted" {
		options.Script = d.AgentCommand
		options.Command = ""
	}
	return name, options, nil
}

// chooseAgent sets Agent and Default for good if flags and settings name no agent. A command is one of its own, and
// Docker's sandbox is for Claude Code.
func (d *Project) chooseAgent(command string) {
	if d.Agent != "" || command != "" || d.inDocker() {
		return
	}
	d.Default = agent.FindDefault(d.World.Environ(), d.ProjectDir)
	d.Agent = d.Default.Name
}

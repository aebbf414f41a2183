package action

import (
	"context"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// applyNamedSettings applies the settings file that the workflow names, as it is on the default branch.
func (h *handler) applyNamedSettings(ctx context.Context) error {
	name := h.inputs.Config
	if name == "" {
		return nil
	}
	if err := h.connect(); err != nil {
		return err
	}
	text, found, err := h.client.File(ctx, "", name)
	if err != nil {
		return err
	}
	if !found {
		return fault.Usage("there is no "+name+" on the default branch",
			"correct the input config, or push that file", nil)
	}
	return applyNamed(h.inputs, name, text, h.log)
}

func applyNamed(inputs *config.Inputs, name string, text []byte, l *jobLog) error {
	settings, err := config.ReadSettings(config.File{Name: name, Data: text})
	if err != nil {
		return err
	}
	loosened, err := settings.ApplyNamed(inputs)
	if err != nil {
		return fault.Usage("cannot use "+name, "correct it on the default branch", err)
	}
	for _, line := range loosened {
		l.say(name + " sets " + line)
	}
	inputs.Rules.BranchPrefix = inputs.BranchPrefix
	l.rules = inputs.Rules
	return nil
}

// applySettings applies the settings of the base branch, never of the work.
func (g *gatherer) applySettings(ctx context.Context) error {
	r := g.request
	if !r.command.Verb.UsesAgent() {
		return nil
	}
	base, _, err := r.place()
	if err != nil {
		return nil //nolint:nilerr // it is answered when the run is to begin
	}
	if err := g.allowServers(ctx, base); err != nil {
		return err
	}
	if r.inputs.Config != "" {
		return nil
	}
	const name = workspace.SettingsFile
	text, found, err := g.client.File(ctx, base, name)
	if err != nil || !found {
		return err
	}
	settings, err := config.ReadSettings(config.File{Name: name + " on " + base, Data: text})
	if err != nil {
		return err
	}
	for _, key := range settings.ApplyToInputs(r.inputs) {
		g.note(key+" has no effect in "+name, "name the file in the workflow: `config: "+name+"`")
	}
	return nil
}

// allowServers adds the MCP servers that the settings name to the agent's options.
func (g *gatherer) allowServers(ctx context.Context, base string) error {
	inputs := g.request.inputs
	if len(inputs.MCP) == 0 {
		return nil
	}
	name := inputs.MCP[0]
	text, found, err := g.client.File(ctx, base, name)
	if err != nil {
		return err
	}
	if !found {
		return fault.Usage("there is no "+name+" on "+base,
			"correct github.mcpConfig in "+inputs.Config+", or push that file", nil)
	}
	unusable := func(err error) error {
		return fault.Usage("cannot use github.mcpConfig of "+inputs.Config, "correct it, or "+name+" on "+base, err)
	}
	servers, err := mcp.Read(text, inputs.MCP[1:])
	if err != nil {
		return unusable(err)
	}
	flags, err := servers.Flags(agent.NameOf(inputs.AgentName, inputs.Agent.Command))
	if err != nil {
		return unusable(err)
	}
	inputs.Agent.Args = append(flags, inputs.Agent.Args...)
	inputs.Agent.Servers = servers
	return nil
}

// proofPolicy returns the policy of a proof, with the settings of the base, which file reads.
func proofPolicy(inputs config.Inputs, file func(string) []byte) (policy.Policy, error) {
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

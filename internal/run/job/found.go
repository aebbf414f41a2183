package job

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// FoundAgent is an agent that was found before a sandbox exists. nil: there is no reviewer, which AdoptSettings, Needs
// and reviewModel accept.
type FoundAgent struct {
	Adapter agent.Adapter
	Program string   // its path
	Env     []string // the base of its environment

	name    string
	options agent.Options
	model   string
}

// Find finds an agent, or says how to install it. env returns its environment.
func Find(name string, o agent.Options, env func(vars ...string) []string, dir string) (*FoundAgent, error) {
	adapter, err := agent.Pick(name, o)
	if err != nil {
		return nil, err
	}
	f := &FoundAgent{Adapter: adapter, Env: env(adapter.Vars...), name: name, options: o}
	f.Program, err = adapter.Locate(f.Env, dir)
	return f, err
}

// FindSecond finds the agent that the policy wants for second opinions.
func FindSecond(
	wanted policy.Review, o agent.Options, env func(vars ...string) []string, dir string,
) (*FoundAgent, error) {
	if wanted.Agent == "" {
		return nil, nil //nolint:nilnil // a nil FoundAgent is none
	}
	o.Command = wanted.Agent
	o.ReadOnly = true
	f, err := Find("", o, env, dir)
	if err != nil {
		return nil, err
	}
	f.model = wanted.Model
	return f, nil
}

// AdoptSettings takes the model's server from the agent's own settings. The agent's program prints them in its user's
// home, where no repository can change them, before there is a sandbox. A server for which only the agent has a key
// must be reachable from inside the sandbox.
func (f *FoundAgent) AdoptSettings(ctx context.Context, o confine.Options, model string) error {
	if f == nil || f.Adapter.SettingsCommand == nil {
		return nil
	}
	var printed bytes.Buffer
	argv := append([]string{f.Program}, f.Adapter.SettingsCommand[1:]...)
	env := slices.Concat(f.Env, f.Adapter.Env(agent.Order{}), []string{"PATH=" + o.Path})
	_, err := o.Exec(ctx, process.Command{
		Argv:    argv,
		Dir:     o.Home,
		Env:     env,
		Stdout:  &printed,
		Timeout: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("read the settings of %s: %w", f.Adapter.Name, err)
	}
	own := f.Adapter.ReadSettings(printed.Bytes(), f.options.Keys, model)
	f.options.Keys = own.Keys
	f.options.Model = own.Model
	if own.Server == "" {
		return nil
	}
	u, err := url.Parse(own.Server)
	if err != nil || u.Scheme != "https" || egress.Local(u.Hostname()) {
		what := "%s asks %s with a key of its own settings, and cannot reach it from inside the sandbox"
		fix := "take the key out of its settings and set OPENAI_API_KEY to it, so that ralph's model server asks, " +
			"or give --no-sandbox"
		return fault.Usage(fmt.Sprintf(what, f.Adapter.Name, own.Server), fix, err)
	}
	f.Adapter.Hosts = []string{u.Host}
	return nil
}

// Needs returns the files that the agent must read in a sandbox, and those that it has in a new home of a user.
func (f *FoundAgent) Needs(env []string) (read []string, homeFiles []agent.HomeFile) {
	if f == nil {
		return nil, nil
	}
	return confine.AgentFiles(f.Program, f.Adapter), agent.HomeFiles(f.Adapter.Name, env)
}

// FillModel returns the model with what the agent requests from it.
func (f *FoundAgent) FillModel(model confine.Model) confine.Model {
	model.Agent = f.Adapter.Name
	model.Keys = f.options.Keys
	model.Hosts = f.Adapter.Hosts
	model.Prices = f.options.Prices
	model.Name = cmp.Or(model.Name, f.options.Model)
	return model
}

// reviewModel is for a second opinion, within a share of the budget. nil: there is none.
func (f *FoundAgent) reviewModel(model confine.Model) *confine.Model {
	if f == nil {
		return nil
	}
	model.Name = f.model
	model.KeyInAgent = false
	return new(f.FillModel(model))
}

// inSandbox returns the agent with the keys that it has inside a sandbox.
func (f *FoundAgent) inSandbox(keys func(agent.Keys) agent.Keys) (agent.Adapter, error) {
	o := f.options
	o.Keys = keys(o.Keys)
	return agent.Pick(f.name, o)
}

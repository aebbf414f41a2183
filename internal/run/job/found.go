package job

import (
	"bytes"
	"cmp"
	"context"
	"errors"
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

// FoundAgent is an agent that was found before a sandbox exists. nil: none.
type FoundAgent struct {
	agent.Adapter
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
	c := &FoundAgent{Adapter: adapter, Env: env(adapter.Vars...), name: name, options: o}
	c.Program, err = adapter.Locate(c.Env, dir)
	return c, err
}

// FindSecond finds the agent that the policy wants for second opinions.
func FindSecond(
	wanted policy.Review,
	o agent.Options,
	env func(vars ...string) []string,
	dir string,
) (*FoundAgent, error) {
	if wanted.Agent == "" {
		return nil, nil //nolint:nilnil // a nil FoundAgent is none
	}
	o.Command = wanted.Agent
	o.ReadOnly = true
	c, err := Find("", o, env, dir)
	if err != nil {
		return nil, err
	}
	c.model = wanted.Model
	return c, nil
}

// AdoptSettings takes the model's server from the agent's own settings. The agent's
// program prints them in its user's home, where no repository can change them, before
// there is a sandbox. A server for which only the agent has a key must be reachable from
// inside the sandbox.
func (c *FoundAgent) AdoptSettings(ctx context.Context, o confine.Options, model string) error {
	if c == nil || c.SettingsCommand == nil {
		return nil
	}
	var printed bytes.Buffer
	argv := append([]string{c.Program}, c.SettingsCommand[1:]...)
	env := slices.Concat(c.Env, c.Adapter.Env(agent.Order{}), []string{"PATH=" + o.Path})
	_, err := o.Exec(ctx, process.Command{
		Argv:    argv,
		Dir:     o.Home,
		Env:     env,
		Stdout:  &printed,
		Timeout: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("read the settings of %s: %w", c.Name, err)
	}
	own := c.ReadSettings(printed.Bytes(), c.options.Keys, model)
	c.options.Keys = own.Keys
	c.options.Model = own.Model
	if own.Server == "" {
		return nil
	}
	u, err := url.Parse(own.Server)
	if err != nil || u.Scheme != "https" || egress.Local(u.Hostname()) {
		what := "%s asks %s with a key of its own settings, and cannot reach it from inside the sandbox"
		fix := "take the key out of its settings and set OPENAI_API_KEY to it, so that ralph's model server asks, " +
			"or give --no-sandbox"
		return fault.Usage(fmt.Sprintf(what, c.Name, own.Server), fix, err)
	}
	c.Hosts = []string{u.Host}
	return nil
}

// Needs returns the files that the agent must read in a sandbox, and those that it has in a new home of a user.
func (c *FoundAgent) Needs(env []string) (read []string, brought []agent.Brought) {
	if c == nil {
		return nil, nil
	}
	return confine.Program(c.Program, c.Adapter), agent.HomeFiles(c.Name, env)
}

// ModelTerms returns what the agent requests from a model, with the terms of its sandbox.
func (c *FoundAgent) ModelTerms(terms confine.Model) confine.Model {
	terms.Agent = c.Name
	terms.Keys = c.options.Keys
	terms.Hosts = c.Hosts
	terms.Prices = c.options.Prices
	terms.Name = cmp.Or(terms.Name, c.options.Model)
	return terms
}

// reviewTerms are for a second opinion, within a share of the budget. nil: there is none.
func (c *FoundAgent) reviewTerms(terms confine.Model) *confine.Model {
	if c == nil {
		return nil
	}
	terms.Name = c.model
	terms.KeyInAgent = false
	asked := c.ModelTerms(terms)
	return &asked
}

// inSandbox returns the agent with the keys that it has inside a sandbox.
func (c *FoundAgent) inSandbox(keys func(agent.Keys) agent.Keys) (agent.Adapter, error) {
	o := c.options
	o.Keys = keys(o.Keys)
	return agent.Pick(c.name, o)
}

// Enclose starts a sandbox around the agent of a run and a second one for opinions (nil: none), and
// returns both as they work in it.
func (c *FoundAgent) Enclose(
	ctx context.Context,
	second *FoundAgent,
	p policy.Policy,
	o confine.Options,
) (Agents, *confine.Sandbox, error) {
	terms := o.Model
	terms.Name = p.Model
	terms.Budget = agent.Budget{USD: p.Limits.CostUSD, Tokens: p.Limits.Tokens}
	o.Model = c.ModelTerms(terms)
	o.Review = second.reviewTerms(terms)
	read, brought := c.Needs(o.Env)
	secondRead, secondBrought := second.Needs(o.Env)
	o.Read = slices.Concat(secondRead, read, o.Read)
	if o.Home != "" {
		o.Brought = append(brought, secondBrought...)
	}
	all := Agents{AgentEnv: c.Env}
	sb, err := confine.Start(ctx, o)
	if err != nil {
		return all, nil, err
	}
	if err := all.enclose(c, second, sb); err != nil {
		return all, nil, errors.Join(err, sb.Close())
	}
	return all, sb, nil
}

// enclose makes the agents with the keys that the sandbox gives them.
func (a *Agents) enclose(first, second *FoundAgent, sb *confine.Sandbox) error {
	adapter, err := first.inSandbox(sb.Keys)
	if err != nil {
		return err
	}
	a.Agent = adapter
	if second == nil {
		return nil
	}
	adapter, err = second.inSandbox(sb.ReviewKeys)
	if err != nil {
		return err
	}
	a.Reviewer = &Reviewer{Agent: adapter, Env: second.Env}
	return nil
}

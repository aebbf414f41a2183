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
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// FoundAgent is an agent that was found before a sandbox exists. nil: none.
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
	if c == nil || c.Adapter.SettingsCommand == nil {
		return nil
	}
	var printed bytes.Buffer
	argv := append([]string{c.Program}, c.Adapter.SettingsCommand[1:]...)
	env := slices.Concat(c.Env, c.Adapter.Env(agent.Order{}), []string{"PATH=" + o.Path})
	_, err := o.Exec(ctx, process.Command{
		Argv:    argv,
		Dir:     o.Home,
		Env:     env,
		Stdout:  &printed,
		Timeout: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("read the settings of %s: %w", c.Adapter.Name, err)
	}
	own := c.Adapter.ReadSettings(printed.Bytes(), c.options.Keys, model)
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
		return fault.Usage(fmt.Sprintf(what, c.Adapter.Name, own.Server), fix, err)
	}
	c.Adapter.Hosts = []string{u.Host}
	return nil
}

// Needs returns the files that the agent must read in a sandbox, and those that it has in a new home of a user.
func (c *FoundAgent) Needs(env []string) (read []string, brought []agent.Brought) {
	if c == nil {
		return nil, nil
	}
	return confine.AgentFiles(c.Program, c.Adapter), agent.HomeFiles(c.Adapter.Name, env)
}

// ModelTerms returns what the agent requests from a model, with the terms of its sandbox.
func (c *FoundAgent) ModelTerms(terms confine.Model) confine.Model {
	terms.Agent = c.Adapter.Name
	terms.Keys = c.options.Keys
	terms.Hosts = c.Adapter.Hosts
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

// Entry is what an entry knows of a job before its sandbox is there.
type Entry struct {
	Agent    *FoundAgent
	Reviewer *FoundAgent // gives second opinions; nil: none
	Policy   policy.Policy
	Sandbox  confine.Options
	CheckEnv func(*confine.Sandbox) []string // the base of the environment of checks
	Kept     func(*confine.Sandbox) checkout.Kept
}

// New starts the sandbox of a job, and fills in the agents, and what the checks have in it. The caller closes it.
func New(ctx context.Context, e Entry, j Job) (*Job, error) {
	o := e.Sandbox
	terms := o.Model
	terms.Name = e.Policy.Model
	terms.Budget = agent.Budget{USD: e.Policy.Limits.CostUSD, Tokens: e.Policy.Limits.Tokens}
	o.Model = e.Agent.ModelTerms(terms)
	o.Review = e.Reviewer.reviewTerms(terms)
	read, brought := e.Agent.Needs(o.Env)
	reviewerRead, reviewerBrought := e.Reviewer.Needs(o.Env)
	o.Read = slices.Concat(reviewerRead, read, o.Read)
	if o.Home != "" {
		o.Brought = append(brought, reviewerBrought...)
	}
	sb, err := confine.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	j.Machine.Sandbox = sb
	j.Machine.Kept = e.Kept(sb)
	j.Machine.StepEnv = e.CheckEnv(sb)
	j.Machine.CheckEnv = slices.Concat(j.Machine.StepEnv, o.Needs.Env)
	j.Machine.CheckSecrets = o.Needs.Secrets
	j.Agents.AgentEnv = slices.Concat(e.Agent.Env, o.Needs.Env)
	if err := j.pickAgents(e, sb); err != nil {
		return nil, errors.Join(err, sb.Close())
	}
	return &j, nil
}

// pickAgents makes the agents with the keys that the sandbox gives them.
func (j *Job) pickAgents(e Entry, sb *confine.Sandbox) error {
	adapter, err := e.Agent.inSandbox(sb.Keys)
	if err != nil {
		return err
	}
	j.Agents.Agent = adapter
	if e.Reviewer == nil {
		return nil
	}
	adapter, err = e.Reviewer.inSandbox(sb.ReviewKeys)
	if err != nil {
		return err
	}
	j.Agents.Reviewer = &Reviewer{Agent: adapter, Env: e.Reviewer.Env}
	return nil
}

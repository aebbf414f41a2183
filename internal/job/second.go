package job

import (
	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Second is the agent that is to be asked for a second opinion, as it is found
// before any wall stands. A nil Second is nobody.
type Second struct {
	adapter agent.Adapter
	options agent.Options
	program string
	env     []string
	model   string
}

// FindSecond finds whom a policy wants to be asked, and says what to do where
// there is no such program. env makes the environment that it starts from.
func FindSecond(wanted policy.Review, o agent.Options, env func(vars ...string) []string, dir string) (*Second, error) {
	if wanted.Agent == "" {
		return nil, nil //nolint:nilnil // a nil Second is nobody
	}
	o.Command, o.Reads = wanted.Agent, true
	adapter, err := agent.Pick("", o)
	if err != nil {
		return nil, err
	}
	s := &Second{adapter: adapter, options: o, env: env(adapter.Vars...), model: wanted.Model}
	s.program, err = (&agent.Hand{Adapter: adapter, Env: s.env, Dir: dir}).Ready()
	return s, err
}

// Needs are what a wall has to let it read, and what it keeps in its user's
// home.
func (s *Second) Needs() (read, state []string) {
	if s == nil {
		return nil, nil
	}
	return Program(s.program, s.adapter), s.adapter.State
}

// Model is whom it will ask, and what else it may; budget is the run's, of which
// it takes a share.
func (s *Second) Model(budget agent.Budget, more []string) *ModelAsked {
	if s == nil {
		return nil
	}
	return &ModelAsked{Agent: s.adapter.Name, Name: s.model, Models: more, Keys: s.options.Keys, Hosts: s.adapter.Hosts, Budget: budget, Prices: s.options.Prices}
}

// Behind is the agent as it works behind a wall, with the keys that it has there.
func (s *Second) Behind(w *Wall) (*Reviewer, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // nobody is asked
	}
	o := s.options
	o.Keys = w.ReviewKeys(o.Keys)
	adapter, err := agent.Pick("", o)
	return &Reviewer{Agent: adapter, Env: s.env}, err
}

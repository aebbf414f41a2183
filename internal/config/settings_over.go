package config

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Over lays what was set over a preset. What a file does not say stays as the
// preset has it; flags are laid over the result by whoever read them.
func (s Settings) Over(p policy.Policy) policy.Policy {
	if s.Has("maximumIterations") {
		p.Limits.Iterations = s.MaximumIterations
	}
	if s.Has("outputTruncateChars") {
		p.Excerpt.Chars = s.OutputTruncateChars
	}
	if s.Has("completionResponse") && p.Done == policy.ByResponse {
		p.Word = s.CompletionResponse
	}
	if s.Has("includeIterationCountInPrompt") {
		p.Count = s.IncludeIterationCountInPrompt
	}
	if s.Agent.Model != "" {
		p.Model = s.Agent.Model
	}
	if s.SCM != nil {
		p.SCM = policy.SCM{Command: s.SCM.Command, Tasks: s.SCM.Tasks}
	}
	p.Checks = slices.Concat(p.Checks, s.checks())
	p.Protect = slices.Concat(p.Protect, s.Protect)
	p.Limits = s.Limits.over(p.Limits)
	if s.Agent.Timeout != nil {
		p.Limits.Iteration = *s.Agent.Timeout
	}
	return p
}

func (l Limits) over(p policy.Limits) policy.Limits {
	if l.MaxCost != nil {
		p.CostUSD = *l.MaxCost
	}
	if l.MaxTime != nil {
		p.Run = *l.MaxTime
	}
	if l.StallAfter != nil {
		p.Stall = *l.StallAfter
	}
	return p
}

// checks are the guardrails; of two with the same command the first stands.
func (s Settings) checks() []policy.Check {
	var commands []string
	for _, g := range s.Guardrails {
		commands = append(commands, g.Command)
	}
	checks := policy.Checks(commands, guardrailTimeout)
	for i := range checks {
		g := s.Guardrails[slices.Index(commands, checks[i].Command)]
		checks[i].Timeout, checks[i].FailAction, checks[i].Hint = g.Timeout, g.FailAction, g.Hint
	}
	return checks
}

// Options are those of the agent room; reading has made sure of the words.
func (a Agent) Options() (agent.Options, error) {
	options := agent.Options{Command: a.Command}
	for _, flag := range a.Flags {
		words, err := agent.Words(flag)
		if err != nil {
			return agent.Options{}, err
		}
		options.Args = append(options.Args, words...)
	}
	return options, nil
}

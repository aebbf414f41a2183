package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/guard"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/price"
)

// wholeOutput is the most of an output that is told, and all of it where no
// limit is wanted: a prompt has to hold it.
const wholeOutput = 1_000_000

// Over lays what was set over a preset. What a file does not say stays as the
// preset has it; flags are laid over the result by whoever read them.
func (s Settings) Over(p policy.Policy) policy.Policy {
	if s.Has("maximumIterations") {
		p.Limits.Iterations = s.MaximumIterations
	}
	if s.Has("outputTruncateChars") {
		p.Excerpt.Chars = min(cmp.Or(s.OutputTruncateChars, wholeOutput), wholeOutput)
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
	p.Proof = cmp.Or(s.Proof, p.Proof)
	if p.Done == policy.ByStories {
		p.Review = policy.Review(s.Review)
	}
	if p.Tamper != "" {
		p.Tamper = cmp.Or(s.Tamper, p.Tamper)
	}
	if p.Baseline != "" {
		p.Baseline = cmp.Or(s.Baseline, p.Baseline)
	}
	p.Protect = slices.Concat(p.Protect, s.Protect)
	p.Setup = slices.Concat(p.Setup, policy.Setups(s.Setup, policy.DefaultCheckTimeout))
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
	if l.MaxTokens != nil {
		p.Tokens = int64(*l.MaxTokens)
	}
	if l.StallAfter != nil {
		p.Stall = *l.StallAfter
	}
	return p
}

// checks are the guardrails. The same command may be there twice with different
// consequences, and then each of them counts.
func (s Settings) checks() []policy.Check {
	var checks []policy.Check
	for _, g := range s.Guardrails {
		checks = append(checks, policy.Check{Command: g.Command, Timeout: g.Timeout, FailAction: g.FailAction, Hint: g.Hint})
	}
	return policy.Unique(checks)
}

// Options are those of the agent room; reading has made sure of the words.
func (a Agent) Options() (agent.Options, error) {
	options := agent.Options{Command: a.Command, Prices: a.rates()}
	for _, flag := range a.Flags {
		words, err := agent.Words(flag)
		if err != nil {
			return agent.Options{}, err
		}
		options.Args = append(options.Args, words...)
	}
	return options, nil
}

// Table is the rules as the guard takes them.
func (g Guard) Table() []guard.Rule {
	var rules []guard.Rule
	for _, r := range g.Rules {
		rules = append(rules, guard.Rule{
			Command: r.Command, Flags: strings.Join(r.Flags, " "), Operands: strings.Join(r.Operands, " "),
			Unless: strings.Join(r.Unless, " "), Why: r.Why, Instead: r.Instead, Allow: r.Allow,
		})
	}
	return rules
}

// rates are the prices as the meter takes them: a cache of which nothing is
// said costs what its input does.
func (a Agent) rates() map[string]price.Rate {
	var rates map[string]price.Rate
	for model, p := range a.Prices {
		rate := price.Rate{Input: p.Input, Output: p.Output, CacheRead: p.Input, CacheWrite: p.Input}
		if p.CacheRead != nil {
			rate.CacheRead = *p.CacheRead
		}
		if p.CacheWrite != nil {
			rate.CacheWrite = *p.CacheWrite
		}
		if rates == nil {
			rates = map[string]price.Rate{}
		}
		rates[model] = rate
	}
	return rates
}

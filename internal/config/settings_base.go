package config

import (
	"cmp"
	"slices"

	"github.com/ralph-loop/ralph/internal/policy"
)

// BaseSettings is where a repository's settings stand, if the input config does
// not say otherwise.
const BaseSettings = ".ralph/settings.json"

const localSettings = ".ralph/settings.local.json"

// Under lays settings of the base branch under the inputs. They name the checks
// and the setup where the workflow names none, and may ask for less than it
// allows, never for more. Who works, with what, and what that may reach is for
// the workflow to say, and so is who gives a second opinion: with another agent
// come its key, its hosts and its models.
func (s Settings) Under(in *Inputs) {
	p := &in.Policy
	if len(p.Checks) == 0 {
		p.Checks = s.checks()
		for i := range p.Checks {
			p.Checks[i].Timeout = less(p.Checks[i].Timeout, in.Patience)
			p.Checks[i].FailAction = "" // of prompts, and these are stories
		}
	}
	if len(p.Setup) == 0 {
		p.Setup = policy.Setups(s.Setup, in.Patience)
	}
	p.Protect = slices.Concat(p.Protect, s.Protect)
	p.Limits = s.lower(p.Limits)
	if s.Proof == policy.RedToGreen {
		p.Proof = s.Proof
	}
	if s.Baseline == policy.BaselineStrict {
		p.Baseline = s.Baseline
	}
	p.Tamper = harsher(p.Tamper, s.Tamper)
	if s.Has("outputTruncateChars") {
		p.Excerpt.Chars = min(cmp.Or(s.OutputTruncateChars, wholeOutput), wholeOutput)
	}
}

func harsher(a, b policy.Tamper) policy.Tamper {
	order := []policy.Tamper{policy.TamperAllow, policy.TamperReport, policy.TamperBlock}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

func (s Settings) lower(l policy.Limits) policy.Limits {
	if s.Has("maximumIterations") {
		l.Iterations = less(l.Iterations, s.MaximumIterations)
	}
	own := s.Limits.over(policy.Limits{})
	if s.Agent.Timeout != nil {
		own.Iteration = *s.Agent.Timeout
	}
	l.CostUSD, l.Tokens = less(l.CostUSD, own.CostUSD), less(l.Tokens, own.Tokens)
	l.Run, l.Iteration, l.Stall = less(l.Run, own.Run), less(l.Iteration, own.Iteration), less(l.Stall, own.Stall)
	return l
}

// less is the lower of two limits, of which 0 is none.
func less[T int | int64 | float64 | policy.Duration](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/price"
)

// Settings has the settings of a project's files. A value that no file sets has its default, or is empty: then the
// preset decides. The comments on the fields are the descriptions in the schema.
type Settings struct {
	// Address of this file's schema, for editors.
	Schema string `json:"$schema,omitzero" jsonschema:"pattern=\\S"`
	// Limit of iterations of ralph run (0: no limit); limits.maxIterations wins over it.
	MaximumIterations int `json:"maximumIterations" jsonschema:"minimum=0,maximum=1000000000,default=10"`
	// Completion answer of the agent in its response tag, in any case.
	CompletionResponse string `json:"completionResponse" jsonschema:"pattern=\\S,default=DONE"`
	// Characters of a guardrail's output in the prompt (0: all).
	OutputTruncateChars int `json:"outputTruncateChars" jsonschema:"minimum=0,maximum=1000000000,default=5000"`
	// Show the agent's output on the console while it works.
	StreamAgentOutput bool `json:"streamAgentOutput" jsonschema:"default=true"`
	// Begin the prompt with the number of the iteration and the limit.
	IncludeIterationCountInPrompt bool `json:"includeIterationCountInPrompt" jsonschema:"default=false"`
	// The agent.
	Agent Agent `json:"agent"`
	// Commands that verify the work after each iteration; all must pass.
	Guardrails []Guardrail `json:"guardrails"`
	// Version control of the work when all guardrails pass.
	SCM *policy.SCM `json:"scm,omitzero"`
	// Limits of a run.
	Limits Limits `json:"limits,omitzero"`
	// Time for the step under way to end after the first Ctrl-C, at most 1h.
	StopGrace *policy.Duration `json:"stopGrace,omitzero"`
	// Globs of files that the agent may not change, besides the built-in ones.
	Protect []string `json:"protect,omitzero" jsonschema:"pattern=\\S" check:"glob"`
	// Proof of a story: a test that fails without it, or nothing broken.
	Proof policy.ProofLevel `json:"proof,omitzero" jsonschema:"enum=red-to-green,enum=unbroken"`
	// Existing tests that break: report keeps a draft, block rejects the story, allow lists them.
	Tamper policy.Tamper `json:"tamper,omitzero" jsonschema:"enum=report,enum=block,enum=allow"`
	// Lines that no test needs: report lists them, block rejects the story, off skips it.
	Untested policy.UntestedAction `json:"untested,omitzero" jsonschema:"enum=report,enum=block,enum=off"`
	// Changed places that are tried (default: 12, within the time of one suite).
	UntestedLimit int `json:"untestedLimit,omitzero" jsonschema:"minimum=1,maximum=1000"`
	// Tests that ralph does not find by names and commands.
	Tests policy.Tests `json:"tests,omitzero"`
	// Globs of JUnit XML files that the checks write.
	Reports []string `json:"reports,omitzero" jsonschema:"pattern=\\S,example=build/reports/*.xml" check:"glob"`
	// A check that failed before the work: only new failures block, or no agent starts.
	Baseline policy.Baseline `json:"baseline,omitzero" jsonschema:"enum=new,enum=strict"`
	// Second opinion of each story that is about to pass.
	Review policy.Review `json:"review,omitzero"`
	// Commands that prepare a clean checkout for the checks, in order.
	Setup []string `json:"setup,omitzero" jsonschema:"pattern=\\S"`
	// Servers for agent and checks: a port of this machine, or host:port.
	Services []string `json:"services,omitzero" jsonschema:"pattern=^[^\\s/]+$,example=5432" check:"service"`
	// Variables for agent and checks, each NAME=value.
	CheckEnv []string `json:"checkEnv,omitzero" jsonschema:"pattern=\\S,example=PGHOST" check:"variable"`
	// Your variables for checks on a clean checkout only, hidden in all output.
	CheckSecrets []string `json:"checkSecrets,omitzero" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$,example=STRIPE_TEST_KEY"`
	// The sandbox.
	Sandbox Sandbox `json:"sandbox,omitzero"`
	// Jobs on GitHub; only if the workflow names this file with config.
	GitHub Job `json:"github,omitzero"`

	given map[string]bool // the top-level keys of the files
}

// Agent is the program that does the work.
type Agent struct {
	// Program with its arguments, split as a shell splits words.
	Command string `json:"command,omitzero" jsonschema:"pattern=\\S,example=claude" check:"command"`
	// More arguments, after ralph's; each is split as a shell splits words.
	Flags []string `json:"flags" jsonschema:"pattern=\\S,example=--model opus" check:"command"`
	// Model, by the agent's name for it.
	Model string `json:"model,omitzero" jsonschema:"pattern=\\S"`
	// Time limit of one turn of the agent (0: no limit).
	Timeout *policy.Duration `json:"timeout,omitzero"`
	// Prices of models by name, used before ralph's own list.
	Prices map[string]Price `json:"prices,omitzero"`
}

// Price is the price of a model.
type Price struct {
	// Dollars for a million input tokens that are not cached.
	Input float64 `json:"input" jsonschema:"required,minimum=0,maximum=1000000000"`
	// Dollars for a million output tokens.
	Output float64 `json:"output" jsonschema:"required,minimum=0,maximum=1000000000"`
	// Dollars for a million tokens read from the cache.
	CacheRead *float64 `json:"cacheRead,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
	// Dollars for a million tokens written to the cache.
	CacheWrite *float64 `json:"cacheWrite,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
}

// Guardrail is a command that verifies the work.
type Guardrail struct {
	// Shell command; exit code 0 is a pass.
	Command string `json:"command" jsonschema:"required,pattern=\\S,example=make test"`
	// Globs from the repository's top; the command runs only if the change matches one.
	Paths []string `json:"paths,omitzero" jsonschema:"pattern=^\\S+$,example=web/**" check:"glob"`
	// Place of a failure's output: after, before or instead of the next prompt.
	FailAction policy.FailAction `json:"failAction" jsonschema:"required,enum=APPEND,enum=PREPEND,enum=REPLACE"`
	// Hint for the agent when the command fails.
	Hint string `json:"hint,omitzero"`
	// Time limit (0: no limit; default: 120 seconds).
	Timeout policy.Duration `json:"timeout"`
}

// Limits end a run that does not complete. The preset decides about a nil limit; 0 is no limit.
type Limits struct {
	// Limit of iterations (0: no limit).
	MaxIterations *int `json:"maxIterations,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
	// Dollars (0: no limit).
	MaxCost *float64 `json:"maxCost,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
	// Time of the run (0: no limit).
	MaxTime *policy.Duration `json:"maxTime,omitzero"`
	// Input and output tokens together (0: no limit).
	MaxTokens *int `json:"maxTokens,omitzero" jsonschema:"minimum=0,maximum=1000000000000"`
	// Stop after this many iterations without a change (0: never).
	StallAfter *int `json:"stallAfter,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
}

// Sandbox is what confines the agent.
type Sandbox struct {
	// Level; auto is the strongest available, docker is Docker's sandbox for Claude Code.
	Mode string `json:"mode,omitzero" jsonschema:"enum=auto,enum=namespace,enum=notify,enum=external,enum=none,enum=docker"`
	// Hosts that the agent may reach besides its model; an empty list allows none.
	AllowDomains []string `json:"allowDomains,omitzero" jsonschema:"pattern=^[^\\s/]+$,example=registry.example.com" check:"host"`
	// Models to allow besides the run's own and its agent's helpers.
	AllowModels []string `json:"allowModels,omitzero" jsonschema:"pattern=^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$,example=claude-haiku-*"`
	// Your variables to pass into the sandbox, besides those of toolchains.
	Env []string `json:"env,omitzero" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$,example=DATABASE_URL"`
}

// GuardrailTimeout limits a guardrail without a timeout of its own.
const GuardrailTimeout = policy.Duration(120e9)

// maxStopGrace limits the setting stopGrace.
const maxStopGrace = policy.Duration(time.Hour)

// Has reports whether a file sets a top-level key. A preset may only replace defaults.
func (s Settings) Has(key string) bool { return s.given[key] }

// maxOutput limits the characters of output in a prompt, also for settings without a limit.
const maxOutput = 1_000_000

// ApplyTo returns the preset with the files' settings. Flags are applied to the result.
func (s Settings) ApplyTo(p policy.Policy) policy.Policy {
	if s.Has("maximumIterations") {
		p.Limits.Iterations = s.MaximumIterations
	}
	return s.applyWithoutIterations(p)
}

// applyWithoutIterations is ApplyTo without maximumIterations, for presets that count iterations in another way.
func (s Settings) applyWithoutIterations(p policy.Policy) policy.Policy {
	if s.Has("outputTruncateChars") {
		p.Excerpt.Chars = min(cmp.Or(s.OutputTruncateChars, maxOutput), maxOutput)
	}
	if s.Has("completionResponse") && p.Done == policy.ByResponse {
		p.Word = s.CompletionResponse
	}
	if s.Has("includeIterationCountInPrompt") {
		p.ShowCount = s.IncludeIterationCountInPrompt
	}
	p.Model = cmp.Or(s.Agent.Model, p.Model)
	if s.SCM != nil {
		p.SCM = *s.SCM
	}
	p.Checks = slices.Concat(p.Checks, s.Checks())
	p.Proof = cmp.Or(s.Proof, p.Proof)
	if p.Done == policy.ByStories {
		p.Review = s.Review
	}
	if p.Tamper != "" {
		p.Tamper = cmp.Or(s.Tamper, p.Tamper)
	}
	if p.Baseline != "" {
		p.Baseline = cmp.Or(s.Baseline, p.Baseline)
	}
	p.Untested.Do = cmp.Or(s.Untested, p.Untested.Do)
	p.Untested.Max = cmp.Or(s.UntestedLimit, p.Untested.Max)
	p.Tests.Files = slices.Concat(p.Tests.Files, s.Tests.Files)
	p.Tests.Checks = slices.Concat(p.Tests.Checks, s.Tests.Checks)
	p.Reports = slices.Concat(p.Reports, s.Reports)
	p.Protect = slices.Concat(p.Protect, s.Protect)
	p.Setup = slices.Concat(p.Setup, policy.NewSetup(s.Setup, policy.DefaultCheckTimeout))
	p.Limits = s.Limits.applyTo(p.Limits)
	p.Limits.Iteration = policy.Given(s.Agent.Timeout, p.Limits.Iteration)
	return p
}

func (l Limits) applyTo(p policy.Limits) policy.Limits {
	p.CostUSD = policy.Given(l.MaxCost, p.CostUSD)
	p.Run = policy.Given(l.MaxTime, p.Run)
	p.Tokens = int64(policy.Given(l.MaxTokens, int(p.Tokens)))
	p.Stall = policy.Given(l.StallAfter, p.Stall)
	return p
}

// Checks returns the guardrails. A command can occur twice with different actions.
func (s Settings) Checks() []policy.Check {
	var checks []policy.Check
	for _, g := range s.Guardrails {
		checks = append(checks, policy.Check{
			Command:    g.Command,
			Paths:      strings.Join(g.Paths, " "),
			Timeout:    g.Timeout,
			FailAction: g.FailAction,
			Hint:       g.Hint,
		})
	}
	return policy.UniqueChecks(checks)
}

// Options returns the options of package agent.
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

// rates returns the prices by model. A cache without a price costs as much as input.
func (a Agent) rates() map[string]price.Rate {
	rates := make(map[string]price.Rate, len(a.Prices))
	for model, p := range a.Prices {
		rates[model] = price.Rate{
			Input:      p.Input,
			Output:     p.Output,
			CacheRead:  policy.Given(p.CacheRead, p.Input),
			CacheWrite: policy.Given(p.CacheWrite, p.Input),
		}
	}
	return rates
}

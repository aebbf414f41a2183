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

// Settings are what a project's files say of its runs. What none of them says
// has its default here, or is nil, "" or empty: then the preset decides. The
// comments on the fields are what people read in the schema.
type Settings struct {
	// Where the schema of this file is, for editors.
	Schema string `json:"$schema,omitzero" jsonschema:"pattern=\\S"`
	// Give up after this many iterations; 0 means never.
	MaximumIterations int `json:"maximumIterations" jsonschema:"minimum=0,maximum=1000000000,default=10"`
	// What the agent answers in its response tag when all is done; case does not matter.
	CompletionResponse string `json:"completionResponse" jsonschema:"pattern=\\S,default=DONE"`
	// How much of a guardrail's output the agent is told, in characters; 0 means all of it.
	OutputTruncateChars int `json:"outputTruncateChars" jsonschema:"minimum=0,maximum=1000000000,default=5000"`
	// Show on the console what the agent prints, while it does.
	StreamAgentOutput bool `json:"streamAgentOutput" jsonschema:"default=true"`
	// Begin the prompt with which iteration of how many it is.
	IncludeIterationCountInPrompt bool `json:"includeIterationCountInPrompt" jsonschema:"default=false"`
	// The agent that works.
	Agent Agent `json:"agent"`
	// Commands that judge the work after each iteration; all of them have to pass.
	Guardrails []Guardrail `json:"guardrails"`
	// What is done with the work once all guardrails pass.
	SCM *SCM `json:"scm,omitzero"`
	// When to give up; what is not named here is as the preset has it.
	Limits Limits `json:"limits,omitzero"`
	// Globs of files that the agent's work may not change, beside those protected anyway.
	Protect []string `json:"protect,omitzero" jsonschema:"pattern=\\S" check:"glob"`
	// What makes a story proven: a test of its own that fails without it, or that nothing is broken.
	Proof policy.Bar `json:"proof,omitzero" jsonschema:"enum=red-to-green,enum=unbroken"`
	// What happens when existing tests fail on the new code or no longer run: a person has to look, the story does not pass, or it is only shown.
	Tamper policy.Tamper `json:"tamper,omitzero" jsonschema:"enum=report,enum=block,enum=allow"`
	// Which failures hold a story back where a check was red before the work: only new ones, or all.
	Baseline policy.Baseline `json:"baseline,omitzero" jsonschema:"enum=new,enum=strict"`
	// Who is asked for a second opinion of a story that is about to pass.
	Review Review `json:"review,omitzero"`
	// Commands that make a checkout ready for its checks, in their order; they are never run in your own tree.
	Setup []string `json:"setup,omitzero" jsonschema:"pattern=\\S"`
	// Servers that the agent and the checks use, by a port of this machine or host:port.
	Services []string `json:"services,omitzero" jsonschema:"pattern=^[^\\s/]+$,example=5432" check:"service"`
	// Variables for the agent and the checks, each NAME=value.
	CheckEnv []string `json:"checkEnv,omitzero" jsonschema:"pattern=\\S,example=PGHOST" check:"variable"`
	// Variables of the user's environment for the checks of clean checkouts alone; their values are hidden in all output.
	CheckSecrets []string `json:"checkSecrets,omitzero" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$,example=STRIPE_TEST_KEY"`
	// What confines the agent.
	Sandbox Sandbox `json:"sandbox,omitzero"`
	// What the guard of the agent's commands refuses or allows beside its own table.
	Guard Guard `json:"guard,omitzero"`

	set map[string]bool // the keys that a file had, by path
}

// Agent is the program that works, and how it is called.
type Agent struct {
	// The program, with words of its own if need be; it is split as a shell splits words.
	Command string `json:"command,omitzero" jsonschema:"pattern=\\S,example=claude" check:"command"`
	// Flags for it, after those that ralph gives; each is split as a shell splits words.
	Flags []string `json:"flags" jsonschema:"pattern=\\S,example=--model opus" check:"command"`
	// The model it is to use, in its own words.
	Model string `json:"model,omitzero" jsonschema:"pattern=\\S"`
	// How long one iteration may take; 0 means as long as it likes.
	Timeout *policy.Duration `json:"timeout,omitzero"`
	// What its models cost, by their names, before the rates that ralph knows.
	Prices map[string]Price `json:"prices,omitzero"`
}

// Review is another agent, which reads and does not write.
type Review struct {
	// Its name, or the program with words of its own; it is split as a shell splits words.
	Agent string `json:"agent,omitzero" jsonschema:"pattern=\\S,example=codex" check:"command"`
	// The model it is to use, in its own words.
	Model string `json:"model,omitzero" jsonschema:"pattern=\\S"`
}

// Price is what a model costs, in dollars for a million tokens.
type Price struct {
	// Dollars for a million tokens that it reads, beside those of its cache.
	Input float64 `json:"input" jsonschema:"required,minimum=0,maximum=1000000000"`
	// Dollars for a million tokens that it writes.
	Output float64 `json:"output" jsonschema:"required,minimum=0,maximum=1000000000"`
	// Dollars for a million tokens read from its cache; as input unless given.
	CacheRead *float64 `json:"cacheRead,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
	// Dollars for a million tokens written to its cache; as input unless given.
	CacheWrite *float64 `json:"cacheWrite,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
}

// Guardrail is a command that judges the work.
type Guardrail struct {
	// The command, for a shell; exit code 0 is a pass.
	Command string `json:"command" jsonschema:"required,pattern=\\S,example=make test"`
	// Globs from the top of the repository; the command runs only where the change touches one of them.
	Paths []string `json:"paths,omitzero" jsonschema:"pattern=^\\S+$,example=web/**" check:"glob"`
	// Where its output goes when it fails: after the next prompt, before it, or in its place.
	FailAction policy.FailAction `json:"failAction" jsonschema:"required,enum=APPEND,enum=PREPEND,enum=REPLACE" check:"upper"`
	// What the agent is told beside the output when it fails.
	Hint string `json:"hint,omitzero"`
	// How long it may take; 0 means as long as it likes. 120 seconds unless given.
	Timeout policy.Duration `json:"timeout"`
}

// SCM is a program that keeps what was done, such as git.
type SCM struct {
	// The program, such as git.
	Command string `json:"command,omitzero" jsonschema:"pattern=\\S,example=git"`
	// What to run it with, in order; a commit gets a message from the agent.
	Tasks []string `json:"tasks" jsonschema:"pattern=\\S,example=commit,example=push"`
}

// Limits end a run that does not complete. Nil leaves one to the preset; 0
// turns it off.
type Limits struct {
	// Dollars; 0 means no limit.
	MaxCost *float64 `json:"maxCost,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
	// How long the whole run may take; 0 means no limit.
	MaxTime *policy.Duration `json:"maxTime,omitzero"`
	// Tokens, in and out together; 0 means no limit.
	MaxTokens *int `json:"maxTokens,omitzero" jsonschema:"minimum=0,maximum=1000000000000"`
	// Give up after this many iterations in a row that lead nowhere; 0 means never.
	StallAfter *int `json:"stallAfter,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
}

// Sandbox is what confines the agent.
type Sandbox struct {
	// The level that is asked for; auto takes the best there is, docker is a Docker sandbox for Claude Code.
	Mode string `json:"mode,omitzero" jsonschema:"enum=auto,enum=namespace,enum=notify,enum=external,enum=none,enum=docker"`
	// Hosts that the agent may reach beside its model; none at all if the list is empty.
	AllowDomains []string `json:"allowDomains,omitzero" jsonschema:"pattern=^[^\\s/]+$,example=registry.example.com"`
	// Hosts that the setup commands may reach instead; those of allowDomains when not given.
	SetupDomains []string `json:"setupDomains,omitzero" jsonschema:"pattern=^[^\\s/]+$,example=registry.example.com"`
	// Models that may be asked for beside the run's own and its agent's helpers, where ralph holds the key.
	AllowModels []string `json:"allowModels,omitzero" jsonschema:"pattern=^[A-Za-z0-9*][A-Za-z0-9*._:/@-]*$,example=claude-haiku-*"`
	// Variables of the user's environment that go in behind the sandbox, beside those that toolchains need.
	Env []string `json:"env,omitzero" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$,example=DATABASE_URL"`
}

// Guard is for the hooks of an agent, which judge each command before it runs.
type Guard struct {
	// The project's own rules; the first that is about a command decides.
	Rules []GuardRule `json:"rules,omitzero"`
}

// GuardRule says when a command is refused.
type GuardRule struct {
	// The program and the words after it; a bar separates alternatives, ** is any words.
	Command string `json:"command" jsonschema:"required,pattern=\\S,example=make deploy"`
	// Only if one of these flags was given: -f, --force, or with a value, as in -X=DELETE.
	Flags []string `json:"flags,omitzero" jsonschema:"pattern=^\\S+$,example=--force"`
	// Only if one of its operands matches; * and ? stand for any letters, @outside and its like for areas.
	Operands []string `json:"operands,omitzero" jsonschema:"pattern=^\\S+$,example=*prod*"`
	// Not if one of these flags or operands was given.
	Unless []string `json:"unless,omitzero" jsonschema:"pattern=^\\S+$,example=--dry-run"`
	// What the command does, for the agent to read after it.
	Why string `json:"why,omitzero" jsonschema:"pattern=\\S,example=deploys to production"`
	// What the agent is to do instead; by default to ask the user.
	Instead string `json:"instead,omitzero" jsonschema:"pattern=\\S"`
	// Allow what fits, whatever the guard's own table says.
	Allow bool `json:"allow,omitzero"`
}

// guardrailTimeout bounds a guardrail that names no time of its own.
const guardrailTimeout = policy.Duration(120e9)

// Has says whether a file had that key, as in "limits.maxCost": what is there
// by default may give way to a preset, what was written may not.
func (s Settings) Has(key string) bool { return s.set[key] }

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
		checks = append(checks, policy.Check{Command: g.Command, Paths: strings.Join(g.Paths, " "), Timeout: g.Timeout, FailAction: g.FailAction, Hint: g.Hint})
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

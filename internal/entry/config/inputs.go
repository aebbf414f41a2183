// Package config decodes settings, inputs and flags into options, whose types belong to the packages that use them. It
// reads no environment and no disk; callers pass the texts.
package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Inputs are the Action's inputs, as options of the packages that use them.
type Inputs struct {
	Token        string // the job's token
	CIToken      string // another token to push and open pull requests, so that workflows start
	AppID        int64
	AppKey       string
	AgentName    string
	AgentVersion string // version that npm installs; empty: use the installed one
	Agent        agent.Options
	Rules        trigger.Rules
	Policy       policy.Policy
	CheckTimeout policy.Duration // of checks and setup commands
	Config       string          // settings file of the default branch; empty: none is named
	Sandbox      Confinement
	Needs        confine.Needs
	Cache        string   // a folder of the workspace that is cached between jobs; empty: none
	MCP          []string // a file on the base branch with MCP servers, and the servers that the agent gets
	BaseBranch   string
	Prompt       string // the task, for events without one
	Issue        int
	BranchPrefix string
	Reviewers    []string // of the pull request; a team as owner/team
	PullLabels   []string // of the pull request
	Quota        quota.Limits
	Mode         Mode
	FailOn       FailOn
	Secrets      []string // values to hide in all output
}

// FailOn says which ends of a run fail the job.
type FailOn string

// Mode is what a job of the action does.
type Mode string

// The modes: let an agent work, prove a pull request, and publish the proof of a job without write access.
const (
	Work         Mode = "work"
	ProvePull    Mode = "prove"
	PublishProof Mode = "publish"
)

// FailOnError fails the job after an error, FailOnStopped also if the run stopped without success.
const (
	FailOnError   FailOn = "error"
	FailOnStopped FailOn = "stopped"
	FailOnNever   FailOn = "never"
)

// ReadInputs reads the Action's inputs with get. given has the names of the inputs that the workflow sets.
func ReadInputs(get func(string) string, given ...string) (Inputs, error) {
	r := &reader{}
	r.get = func(name string) string {
		r.known = append(r.known, name)
		return strings.TrimSpace(get(name))
	}
	in := Inputs{
		Token:        r.get("github-token"),
		CIToken:      r.get("ci-token"),
		AppID:        int64(r.number("app-id")),
		AppKey:       r.get("app-private-key"),
		AgentName:    r.get("agent"),
		AgentVersion: r.get("agent-version"),
		Prompt:       r.get("prompt"),
		Issue:        r.number("issue"),
		BranchPrefix: "ralph/",
		Mode:         Mode(r.choice("mode", string(Work), string(ProvePull), string(PublishProof))),
		FailOn:       FailOnError,
		Rules: trigger.Rules{
			AllowUsers: r.list("allow-users"),
			AllowBots:  r.list("allow-bots"),
		},
		Agent:        r.agent(),
		Policy:       r.policy(),
		CheckTimeout: policy.DefaultCheckTimeout,
		Config:       r.path("config"),
		Quota:        quota.Default(),
		Sandbox:      r.confinement(),
		Needs:        r.needs(),
		Cache:        r.cache(),
	}
	in.Quota.USD = r.money("max-cost-per-day", in.Quota.USD)
	in.Secrets = slices.Concat([]string{in.Token, in.CIToken, in.AppKey}, in.Agent.Keys.Secrets(), in.Needs.Values())
	r.checkUnknown(given)
	if len(r.errs) > 0 {
		return Inputs{}, fault.Usage("invalid inputs", "correct `with:` in the workflow's step", errors.Join(r.errs...))
	}
	return in, nil
}

func (r *reader) needs() confine.Needs {
	env := r.lines("check-env")
	r.addError("check-env", environ.CheckLines(env, environ.CheckVariable))
	secrets := r.lines("check-secrets")
	r.addError("check-secrets", environ.CheckLines(secrets, environ.CheckSecret))
	services, err := egress.ParseServices(strings.Fields(strings.ReplaceAll(r.get("services"), ",", " ")))
	r.addError("services", err)
	return confine.Needs{Env: env, Secrets: secrets, Services: services}
}

// cache returns a folder of the workspace that neither git nor ralph uses.
func (r *reader) cache() string {
	name := r.path("cache")
	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(name)), "/")
	if name != "" && slices.Contains([]string{".", ".git", ".ralph", ".ralph-out"}, first) {
		r.addError("cache", fmt.Errorf("%q is in use, write a folder of its own such as .ralph-cache", name))
	}
	return name
}

func (r *reader) agent() agent.Options {
	return agent.Options{
		NeedKey: true,
		Keys: agent.Keys{
			AnthropicAPIKey:      r.get("anthropic-api-key"),
			ClaudeCodeOAuthToken: r.get("claude-code-oauth-token"),
			OpenAIAPIKey:         r.get("openai-api-key"),
			GeminiAPIKey:         r.get("gemini-api-key"),
			ProviderAPIKey:       r.get("provider-api-key"),
			ModelBaseURL:         r.get("model-base-url"),
		},
	}
}

func (r *reader) policy() policy.Policy {
	p := policy.ForPreset(policy.ByStories)
	p.Publish = true
	p.Model = r.get("model")
	p.Baseline = policy.BaselineNew
	p.Protect = policy.ProtectedFiles()
	p.Proof = policy.RedToGreen
	p.Limits.CostUSD = r.money("max-cost", p.Limits.CostUSD)
	p.Checks = r.checks()
	p.Setup = policy.NewSetup(r.lines("setup"), policy.DefaultCheckTimeout)
	return p
}

func (r *reader) checks() []policy.Check {
	checks := policy.NewChecks(r.lines("checks"), policy.DefaultCheckTimeout)
	for _, check := range checks {
		for glob := range strings.FieldsSeq(check.Paths) {
			if !doublestar.ValidatePattern(glob) {
				r.addError("checks", fmt.Errorf("%q is not a glob with closed brackets and braces", glob))
			}
		}
		if check.Command == "" || strings.HasPrefix(check.Command, "paths:") {
			text := check.Paths + check.Command
			r.addError("checks", fmt.Errorf("%q has no command, want paths: GLOB -> COMMAND", text))
		}
	}
	return checks
}

// Package config decodes settings, inputs and flags into options, whose types
// belong to the packages that use them. It reads no environment and no disk;
// callers pass the texts.
package config

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/environ"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/quota"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/workspace"
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
	Config       string          // settings file on the base branch; empty: the default file, if it exists
	Sandbox      Confinement
	Needs        confine.Needs
	Cache        string   // a folder of the workspace that is cached between jobs; empty: none
	MCP          []string // a file on the base branch with MCP servers, and the names of the servers that the agent gets
	BaseBranch   string
	Prompt       string // the task, for events without one
	PromptFile   string // the file with the task
	Issue        int
	BranchPrefix string
	Reviewers    []string // of the pull request; a team as owner/team
	PullLabels   []string // of the pull request
	Quota        quota.Limits
	Mode         Mode
	DryRun       bool // only report what the job would do
	FailOn       FailOn
	Secrets      []string // values to hide in all output
}

// FailOn says which ends of a run fail the job.
type FailOn string

// Mode is what a job of the action does.
type Mode string

// The modes: let an agent work, prove a pull request, and publish the proof of a job
// without write access.
const (
	Work         Mode = "work"
	ProvePull    Mode = "prove"
	PublishProof Mode = "publish"
)

// FailOnError fails the job after an error, FailOnStopped also if the run stopped
// without success.
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
	timeout := r.duration("check-timeout", policy.DefaultCheckTimeout)
	in := Inputs{
		Token:        r.get("github-token"),
		CIToken:      r.get("ci-token"),
		AppID:        int64(r.number("app-id", 0)),
		AppKey:       r.get("app-private-key"),
		AgentName:    r.get("agent"),
		AgentVersion: r.get("agent-version"),
		BaseBranch:   r.get("base-branch"),
		Prompt:       r.get("prompt"),
		PromptFile:   r.get("prompt-file"),
		Issue:        r.number("issue", 0),
		BranchPrefix: r.orDefault("branch-prefix", "ralph/"),
		Reviewers:    r.list("reviewers"),
		PullLabels:   r.list("pr-labels"),
		DryRun:       r.isOn("dry-run"),
		Mode:         Mode(r.choice("mode", string(Work), string(ProvePull), string(PublishProof))),
		FailOn:       FailOn(r.choice("fail-on", string(FailOnError), string(FailOnStopped), string(FailOnNever))),
		Rules: trigger.Rules{
			Label:      r.get("label"),
			Phrase:     r.get("trigger-phrase"),
			Assignee:   r.get("assignee"),
			Buttons:    r.isOn("buttons"),
			AllowUsers: r.list("allow-users"),
			AllowBots:  r.list("allow-bots"),
		},
		Agent:        r.agent(),
		Policy:       r.policy(timeout),
		CheckTimeout: timeout,
		Config:       r.get("config"),
		MCP:          strings.Fields(r.get("mcp-config")),
		Quota:        r.quota(),
		Sandbox:      r.confinement(),
		Needs:        r.needs(),
		Cache:        r.cache(),
	}
	in.Secrets = append([]string{in.Token, in.CIToken, in.AppKey}, in.Agent.Keys.Secrets()...)
	in.Secrets = slices.Concat(in.Secrets, in.Sandbox.Secrets(), in.Needs.Values())
	if in.Prompt != "" && in.PromptFile != "" {
		r.addError("prompt-file", errors.New("cannot be used together with prompt"))
	}
	r.checkUnknown(given)
	if len(r.errs) > 0 {
		return Inputs{}, fault.Usage("invalid inputs", "correct `with:` in the workflow's step", errors.Join(r.errs...))
	}
	return in, nil
}

func (r *reader) needs() (n confine.Needs) {
	n.Env, n.Secrets = r.lines("check-env"), r.lines("check-secrets")
	r.addError("check-env", environ.CheckLines(n.Env, environ.CheckVariable))
	r.addError("check-secrets", environ.CheckLines(n.Secrets, environ.CheckSecret))
	var err error
	n.Services, err = egress.ParseServices(strings.Fields(strings.ReplaceAll(r.get("services"), ",", " ")))
	r.addError("services", err)
	return n
}

// cache returns a folder of the workspace that ralph does not use otherwise.
func (r *reader) cache() string {
	name := r.get("cache")
	if first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(name)), "/"); name != "" && (!filepath.IsLocal(name) || slices.Contains([]string{".", ".git", ".ralph", ".ralph-out"}, first)) {
		r.addError("cache", errors.New("want a separate folder in the workspace, such as .ralph-cache"))
	}
	return name
}

func (r *reader) agent() agent.Options {
	args, err := agent.Words(r.get("agent-args"))
	r.addError("agent-args", err)
	return agent.Options{
		Command: r.get("agent-command"),
		Args:    args,
		NeedKey: true,
		Keys: agent.Keys{
			AnthropicAPIKey:       r.get("anthropic-api-key"),
			ClaudeCodeOAuthToken:  r.get("claude-code-oauth-token"),
			OpenAIAPIKey:          r.get("openai-api-key"),
			AmpAPIKey:             r.get("amp-api-key"),
			GeminiAPIKey:          r.get("gemini-api-key"),
			CopilotProviderAPIKey: r.get("copilot-provider-api-key"),
			ModelBaseURL:          r.get("model-base-url"),
		},
	}
}

func (r *reader) policy(timeout policy.Duration) policy.Policy {
	p := policy.ForPreset(policy.ByStories)
	p.Publish = true
	p.Model = r.get("model")
	p.Draft = r.choice("draft", "until-proven", "always") == "always"
	p.Baseline = policy.Baseline(r.choice("baseline", string(policy.BaselineNew), string(policy.BaselineStrict)))
	p.Protect = append(policy.ProtectedFiles(), r.list("protect")...)
	p.SignOff = r.isOn("sign-off")
	p.Sign = r.choice("commit-signing", "none", "github") == "github"
	p.Approval = r.isOn("plan-approval")
	p.Proof = policy.ProofLevel(r.choice("proof", string(policy.RedToGreen), string(policy.Unbroken)))
	p.Review = policy.Review{Agent: r.get("review-agent"), Model: r.get("review-model")}
	p.Tamper = policy.Tamper(r.choice("tamper", string(policy.TamperReport), string(policy.TamperBlock), string(policy.TamperAllow)))
	p.Limits.Iterations = r.number("max-iterations", p.Limits.Iterations)
	p.Limits.CostUSD = r.money("max-cost", p.Limits.CostUSD)
	p.Limits.Run = r.duration("max-time", p.Limits.Run)
	p.Limits.Iteration = r.duration("iteration-timeout", p.Limits.Iteration)
	p.Limits.Stall = r.number("stall-after", p.Limits.Stall)
	p.Checks, p.Setup = r.checks(timeout), policy.NewSetup(r.lines("setup"), timeout)
	if p.Subfolder = r.workingDirectory(); p.Subfolder != "" {
		p.Memory = path.Join(p.Subfolder, workspace.MemoryDir)
	}
	return p
}

func (r *reader) checks(timeout policy.Duration) []policy.Check {
	checks := policy.NewChecks(r.lines("checks"), timeout)
	for _, check := range checks {
		for glob := range strings.FieldsSeq(check.Paths) {
			if !doublestar.ValidatePattern(glob) {
				r.addError("checks", fmt.Errorf("%q is not a glob with closed brackets and braces", glob))
			}
		}
		if check.Command == "" || strings.HasPrefix(check.Command, "paths:") {
			r.addError("checks", fmt.Errorf("%q has no command, want paths: GLOB -> COMMAND", check.Paths+check.Command))
		}
	}
	return checks
}

func (r *reader) workingDirectory() string {
	folder := path.Clean(r.orDefault("working-directory", "."))
	if !filepath.IsLocal(folder) {
		r.addError("working-directory", fmt.Errorf("%q is outside the repository", folder))
	}
	if folder == "." {
		return ""
	}
	return folder
}

func (r *reader) quota() quota.Limits {
	limits := quota.Default()
	limits.USD = r.money("max-cost-per-day", limits.USD)
	limits.Runs = r.number("max-runs", limits.Runs)
	limits.Pulls = r.number("max-open-prs", limits.Pulls)
	return limits
}

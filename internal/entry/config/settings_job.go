package config

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/workspace"
)

// Job has the settings of jobs on GitHub. They count only if the workflow names the file with `config`.
type Job struct {
	// Label that starts work.
	Label string `json:"label,omitzero" jsonschema:"pattern=\\S"`
	// First word of a comment that starts work.
	TriggerPhrase string `json:"triggerPhrase,omitzero" jsonschema:"pattern=^\\S+$"`
	// Show the stories first, and wait for /ralph approve.
	PlanApproval bool `json:"planApproval,omitzero"`
	// Folder in which agent, setup and checks run.
	WorkingDirectory string `json:"workingDirectory,omitzero" jsonschema:"pattern=\\S" check:"folder"`
	// Time limit of one check or setup command (0: no limit).
	CheckTimeout *policy.Duration `json:"checkTimeout,omitzero"`
	// MCP servers: a file of the base branch, then names of its servers (none: all).
	MCPConfig []string `json:"mcpConfig,omitzero" jsonschema:"pattern=^\\S+$,example=.mcp.json"`
	// Hosts with private addresses that may be reached.
	PrivateHosts []string `json:"privateHosts,omitzero" jsonschema:"pattern=^[^\\s/]+$,example=git.example.com" check:"host"`
	// Runs at the same time in the repository (0: no limit).
	MaxRuns *int `json:"maxRuns,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
	// Open pull requests of ralph when a new run begins (0: no limit).
	MaxOpenPRs *int `json:"maxOpenPrs,omitzero" jsonschema:"minimum=0,maximum=1000000000"`
	// Branch to work on.
	BaseBranch string `json:"baseBranch,omitzero" jsonschema:"pattern=\\S"`
	// Start of the names of ralph's branches.
	BranchPrefix string `json:"branchPrefix,omitzero" jsonschema:"pattern=\\S"`
	// When the pull request becomes ready for review.
	Draft string `json:"draft,omitzero" jsonschema:"enum=until-proven,enum=always"`
	// Reviewers to request: logins, and teams as owner/team.
	Reviewers []string `json:"reviewers,omitzero" jsonschema:"pattern=\\S"`
	// Labels for the pull request.
	PRLabels []string `json:"prLabels,omitzero" jsonschema:"pattern=\\S"`
	// Who signs the commits: GitHub makes them again for that.
	CommitSigning string `json:"commitSigning,omitzero" jsonschema:"enum=none,enum=github"`
	// Add Signed-off-by (ralph) to each commit.
	SignOff bool `json:"signOff,omitzero"`
	// Ends that make the job red; stopped means also runs that stopped short.
	FailOn FailOn `json:"failOn,omitzero" jsonschema:"enum=error,enum=stopped,enum=never"`
}

// ApplyToInputs applies the settings of a file that the workflow does not name. They provide checks and setup if the
// workflow has none, and can only make it stricter: anybody who can change the base branch can write the file. It
// returns what has no effect.
func (s Settings) ApplyToInputs(in *Inputs) (ignored []string) {
	s.applyChecks(in)
	p := &in.Policy
	p.Limits = s.lowerLimits(p.Limits)
	p.Tests = s.Tests
	p.Reports = s.Reports
	if s.Untested == policy.UntestedBlock {
		p.Untested.Do = s.Untested
	}
	if s.Baseline == policy.BaselineStrict {
		p.Baseline = s.Baseline
	}
	if s.Tamper == policy.TamperBlock {
		p.Tamper = s.Tamper
	}
	for _, key := range []string{"services", "review", "github"} {
		if s.Has(key) {
			ignored = append(ignored, key)
		}
	}
	return ignored
}

// ApplyNamed applies the settings of the file that the workflow names. The workflow's own inputs win. It returns a line
// for each setting by which the agent may do more.
func (s Settings) ApplyNamed(in *Inputs) (loosened []string, err error) {
	if s.GitHub.CheckTimeout != nil {
		in.limitChecks(*s.GitHub.CheckTimeout)
	}
	s.applyChecks(in)
	own := in.Policy
	in.Policy = s.ApplyTo(own)
	in.Policy.SCM = own.SCM
	in.Policy.ShowCount = own.ShowCount
	in.Policy.Model = cmp.Or(own.Model, s.Agent.Model)
	in.Policy.Checks = own.Checks
	in.Policy.Setup = own.Setup
	in.Policy.Protect = own.Protect
	in.Policy.Limits.CostUSD = s.lowerLimits(own.Limits).CostUSD
	if len(in.Needs.Services) == 0 {
		if in.Needs.Services, err = egress.ParseServices(s.Services); err != nil {
			return nil, err
		}
	}
	s.GitHub.applyTo(in)
	return s.loosen(in)
}

// loosen applies what gives the agent or the checks more than they have by default.
func (s Settings) loosen(in *Inputs) ([]string, error) {
	options, err := s.Agent.Options()
	if err != nil {
		return nil, err
	}
	if in.AgentVersion == "" { // else the workflow installs the program
		in.Agent.Command = options.Command
	}
	in.Agent.Args = options.Args
	in.Agent.Prices = options.Prices
	in.Sandbox.Models = s.Sandbox.AllowModels
	in.Sandbox.Network.Allow = slices.Concat(in.Sandbox.Network.Allow, s.Sandbox.AllowDomains)
	in.Sandbox.Network.Private = s.GitHub.PrivateHosts
	mode := ""
	if in.Sandbox.Level == sandbox.Auto && s.Sandbox.Mode != "" && s.Sandbox.Mode != string(sandbox.Auto) {
		mode = s.Sandbox.Mode
		in.Sandbox.Level = sandbox.Level(mode)
	}
	if !in.Sandbox.Level.Known() {
		return nil, fmt.Errorf("sandbox.mode: a job has no level %q", mode)
	}
	var loosened []string
	list := func(key string, values ...string) {
		if text := strings.Join(values, ", "); text != "" {
			loosened = append(loosened, key+": "+text)
		}
	}
	list("agent.command", in.Agent.Command)
	list("sandbox.mode", mode)
	list("sandbox.allowDomains", s.Sandbox.AllowDomains...)
	list("sandbox.allowModels", s.Sandbox.AllowModels...)
	list("github.privateHosts", s.GitHub.PrivateHosts...)
	return loosened, nil
}

func (j Job) applyTo(in *Inputs) {
	p := &in.Policy
	in.Rules.Label = j.Label
	in.Rules.Phrase = j.TriggerPhrase
	p.Approval = j.PlanApproval
	if folder := path.Clean(cmp.Or(j.WorkingDirectory, ".")); folder != "." {
		p.Subfolder = folder
		p.Memory = path.Join(folder, workspace.MemoryDir)
	}
	in.MCP = j.MCPConfig
	in.Quota.Runs = policy.Given(j.MaxRuns, in.Quota.Runs)
	in.Quota.Pulls = policy.Given(j.MaxOpenPRs, in.Quota.Pulls)
	in.BaseBranch = j.BaseBranch
	in.BranchPrefix = cmp.Or(j.BranchPrefix, in.BranchPrefix)
	p.Draft = j.Draft == "always"
	in.Reviewers = j.Reviewers
	in.PullLabels = j.PRLabels
	p.Sign = j.CommitSigning == "github"
	p.SignOff = j.SignOff
	in.FailOn = cmp.Or(j.FailOn, in.FailOn)
}

// applyChecks applies what both kinds of file can add.
func (s Settings) applyChecks(in *Inputs) {
	p := &in.Policy
	if len(p.Checks) == 0 {
		p.Checks = s.Checks()
		for i := range p.Checks {
			p.Checks[i].Timeout = policy.MinLimit(p.Checks[i].Timeout, in.CheckTimeout)
			p.Checks[i].FailAction = "" // only prompts use it
		}
	}
	if len(p.Setup) == 0 {
		p.Setup = policy.NewSetup(s.Setup, in.CheckTimeout)
	}
	in.Needs.Env = slices.Concat(s.CheckEnv, in.Needs.Env)
	p.Protect = slices.Concat(p.Protect, s.Protect)
	if s.Has("outputTruncateChars") {
		p.Excerpt.Chars = min(cmp.Or(s.OutputTruncateChars, maxOutput), maxOutput)
	}
}

// limitChecks limits the time of the workflow's own checks and setup commands.
func (in *Inputs) limitChecks(timeout policy.Duration) {
	in.CheckTimeout = timeout
	for _, all := range [][]policy.Check{in.Policy.Checks, in.Policy.Setup} {
		for i := range all {
			all[i].Timeout = timeout
		}
	}
}

func (s Settings) lowerLimits(l policy.Limits) policy.Limits {
	own := s.Limits.applyTo(policy.Limits{})
	own.Iteration = policy.Given(s.Agent.Timeout, 0)
	if s.Has("maximumIterations") {
		own.Iterations = s.MaximumIterations
	}
	return l.Min(own)
}

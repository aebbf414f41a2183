package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
)

// named reads inputs, and applies the text of the settings file that the workflow names.
func named(t *testing.T, inputs map[string]string, text string) (config.Inputs, []string, error) {
	t.Helper()
	in, err := config.ReadInputs(with(inputs))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := config.ReadSettings(config.File{Name: "f.json", Data: []byte(text)})
	if err != nil {
		return in, nil, err
	}
	loosened, err := settings.ApplyNamed(&in)
	return in, loosened, err
}

// Every setting of a named file changes only its own option, and tells what it loosens.
func TestEachNamedSettingIsForOneThing(t *testing.T) {
	for text, test := range map[string]struct {
		loosened string
		change   func(*config.Inputs)
	}{
		`{"agent": {"command": "my agent"}}`:                 {"agent.command: my agent", func(in *config.Inputs) { in.Agent.Command = "my agent" }},
		`{"agent": {"flags": ["-v", "--say 'two words'"]}}`:  {"", func(in *config.Inputs) { in.Agent.Args = []string{"-v", "--say", "two words"} }},
		`{"agent": {"model": "opus"}}`:                       {"", func(in *config.Inputs) { in.Policy.Model = "opus" }},
		`{"agent": {"timeout": "10m"}}`:                      {"", func(in *config.Inputs) { in.Policy.Limits.Iteration = policy.Duration(10 * time.Minute) }},
		`{"limits": {"maxIterations": 30}}`:                  {"", func(in *config.Inputs) { in.Policy.Limits.Iterations = 30 }},
		`{"maximumIterations": 0}`:                           {"", func(in *config.Inputs) { in.Policy.Limits.Iterations = 0 }},
		`{"limits": {"maxTime": "9h"}}`:                      {"", func(in *config.Inputs) { in.Policy.Limits.Run = policy.Duration(9 * time.Hour) }},
		`{"limits": {"stallAfter": 7}}`:                      {"", func(in *config.Inputs) { in.Policy.Limits.Stall = 7 }},
		`{"limits": {"maxCost": 50}}`:                        {"", func(*config.Inputs) {}},
		`{"limits": {"maxCost": 2}}`:                         {"", func(in *config.Inputs) { in.Policy.Limits.CostUSD = 2 }},
		`{"proof": "unbroken"}`:                              {"", func(in *config.Inputs) { in.Policy.Proof = policy.Unbroken }},
		`{"tamper": "allow"}`:                                {"", func(in *config.Inputs) { in.Policy.Tamper = policy.TamperAllow }},
		`{"baseline": "strict"}`:                             {"", func(in *config.Inputs) { in.Policy.Baseline = policy.BaselineStrict }},
		`{"protect": ["go.sum"]}`:                            {"", func(in *config.Inputs) { in.Policy.Protect = append(policy.ProtectedFiles(), "go.sum") }},
		`{"review": {"agent": "codex"}}`:                     {"", func(in *config.Inputs) { in.Policy.Review.Agent = "codex" }},
		`{"services": ["5432"]}`:                             {"", func(in *config.Inputs) { in.Needs.Services = []egress.Name{{Host: "127.0.0.1", Port: 5432}} }},
		`{"sandbox": {"mode": "none"}}`:                      {"sandbox.mode: none", func(in *config.Inputs) { in.Sandbox.Level = sandbox.None }},
		`{"sandbox": {"mode": "auto"}}`:                      {"", func(*config.Inputs) {}},
		`{"sandbox": {"allowDomains": ["a.example"]}}`:       {"sandbox.allowDomains: a.example", func(in *config.Inputs) { in.Sandbox.Network.Allow = []string{"a.example"} }},
		`{"sandbox": {"allowModels": ["claude-*"]}}`:         {"sandbox.allowModels: claude-*", func(in *config.Inputs) { in.Sandbox.Models = []string{"claude-*"} }},
		`{"github": {"privateHosts": ["git.corp.example"]}}`: {"github.privateHosts: git.corp.example", func(in *config.Inputs) { in.Sandbox.Network.Private = []string{"git.corp.example"} }},
		`{"github": {"label": "go"}}`:                        {"", func(in *config.Inputs) { in.Rules.Label = "go" }},
		`{"github": {"triggerPhrase": "/go"}}`:               {"", func(in *config.Inputs) { in.Rules.Phrase = "/go" }},
		`{"github": {"planApproval": true}}`:                 {"", func(in *config.Inputs) { in.Policy.Approval = true }},
		`{"github": {"workingDirectory": "./web/"}}`:         {"", func(in *config.Inputs) { in.Policy.Subfolder, in.Policy.Memory = "web", "web/ralph" }},
		`{"github": {"workingDirectory": "."}}`:              {"", func(*config.Inputs) {}},
		`{"github": {"mcpConfig": [".mcp.json", "docs"]}}`:   {"", func(in *config.Inputs) { in.MCP = []string{".mcp.json", "docs"} }},
		`{"github": {"maxRuns": 0}}`:                         {"", func(in *config.Inputs) { in.Quota.Runs = 0 }},
		`{"github": {"maxOpenPrs": 9}}`:                      {"", func(in *config.Inputs) { in.Quota.Pulls = 9 }},
		`{"github": {"baseBranch": "dev"}}`:                  {"", func(in *config.Inputs) { in.BaseBranch = "dev" }},
		`{"github": {"branchPrefix": "bot/"}}`:               {"", func(in *config.Inputs) { in.BranchPrefix = "bot/" }},
		`{"github": {"draft": "always"}}`:                    {"", func(in *config.Inputs) { in.Policy.Draft = true }},
		`{"github": {"reviewers": ["wes"]}}`:                 {"", func(in *config.Inputs) { in.Reviewers = []string{"wes"} }},
		`{"github": {"prLabels": ["by ralph"]}}`:             {"", func(in *config.Inputs) { in.PullLabels = []string{"by ralph"} }},
		`{"github": {"commitSigning": "github"}}`:            {"", func(in *config.Inputs) { in.Policy.Sign = true }},
		`{"github": {"signOff": true}}`:                      {"", func(in *config.Inputs) { in.Policy.SignOff = true }},
		`{"github": {"failOn": "stopped"}}`:                  {"", func(in *config.Inputs) { in.FailOn = config.FailOnStopped }},
		`{"github": {"checkTimeout": "5m"}}`: {"", func(in *config.Inputs) {
			five := policy.Duration(5 * time.Minute)
			in.CheckTimeout, in.Policy.Checks[0].Timeout, in.Policy.Setup[0].Timeout = five, five, five
		}},
	} {
		inputs := map[string]string{"checks": "make test", "setup": "npm ci"}
		want, _, err := named(t, inputs, "{}")
		if err != nil {
			t.Fatal(err)
		}
		test.change(&want)
		got, loosened, err := named(t, inputs, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if said := strings.Join(loosened, "; "); said != test.loosened {
			t.Errorf("%s loosens %q, want %q", text, said, test.loosened)
		}
	}
}

// What the workflow's own inputs say wins.
func TestInputsWinOverTheNamedFile(t *testing.T) {
	in, loosened, err := named(t, map[string]string{"model": "opus", "sandbox": "namespace", "agent-version": "2.1.300"},
		`{"agent": {"model": "haiku", "command": "claude"}, "sandbox": {"mode": "none"}, "guardrails": [{"command": "true", "failAction": "APPEND"}]}`)
	if err != nil || in.Policy.Model != "opus" || in.Sandbox.Level != sandbox.Namespace || in.Agent.Command != "" || len(loosened) > 0 {
		t.Errorf("model %s, level %s, command %q, loosened %q: %v", in.Policy.Model, in.Sandbox.Level, in.Agent.Command, loosened, err)
	}
	if len(in.Policy.Checks) != 1 {
		t.Errorf("checks: %v", in.Policy.Checks)
	}
}

func TestWrongNamedSettings(t *testing.T) {
	for text, want := range map[string]string{
		`{"sandbox": {"mode": "docker"}}`:                  `sandbox.mode: a job has no level "docker"`,
		`{"github": {"workingDirectory": "../elsewhere"}}`: `f.json:1: github.workingDirectory: "../elsewhere" is outside the repository`,
		`{"github": {"privateHosts": ["10.0.0.1"]}}`:       `f.json:1: github.privateHosts[0]: cannot allow "10.0.0.1": it is an address, not a name`,
	} {
		if _, _, err := named(t, nil, text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A file that the workflow does not name says nothing about jobs.
func TestUnnamedSettingsOnlyMakeStricter(t *testing.T) {
	want, err := config.ReadInputs(with(nil))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := config.ReadSettings(config.File{Name: "f.json", Data: []byte(`{
		"agent": {"command": "evil", "flags": ["-x"], "model": "big"}, "limits": {"maxCost": 99, "maxTime": "9d", "maxIterations": 99},
		"proof": "unbroken", "tamper": "allow", "review": {"agent": "codex"}, "services": ["5432"],
		"sandbox": {"mode": "none", "allowDomains": ["a.example"], "allowModels": ["*"]},
		"github": {"label": "go", "privateHosts": ["a.example"], "branchPrefix": "x/"}
	}`)})
	if err != nil {
		t.Fatal(err)
	}
	got := want
	ignored := settings.ApplyToInputs(&got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if said := strings.Join(ignored, " "); said != "services review github" {
		t.Errorf("ignored: %s", said)
	}
}

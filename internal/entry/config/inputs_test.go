package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// with returns a function that returns the values of inputs.
func with(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestDefaults(t *testing.T) {
	got, err := config.ReadInputs(with(nil))
	if err != nil {
		t.Fatal(err)
	}
	p := policy.ForPreset(policy.ByStories)
	p.Publish, p.Baseline, p.Protect, p.Proof = true, policy.BaselineNew, policy.ProtectedFiles(), policy.RedToGreen
	want := config.Inputs{
		BranchPrefix: "ralph/", Mode: config.Work, FailOn: config.FailOnError,
		Agent: agent.Options{NeedKey: true}, Policy: p, CheckTimeout: policy.DefaultCheckTimeout, Quota: quota.Default(), Secrets: make([]string, 8),
		Sandbox: config.Confinement{Level: sandbox.Auto, Network: confine.Network{Packages: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadInputs (-want +got):\n%s", diff)
	}
}

// Every input changes only its own option.
func TestEachInputIsForOneThing(t *testing.T) {
	for _, test := range []struct {
		name, value string
		change      func(*config.Inputs)
	}{
		{"github-token", "ghs_1", func(in *config.Inputs) { in.Token, in.Secrets[0] = "ghs_1", "ghs_1" }},
		{"app-id", "12", func(in *config.Inputs) { in.AppID = 12 }},
		{"ci-token", "ghp_1", func(in *config.Inputs) { in.CIToken, in.Secrets[1] = "ghp_1", "ghp_1" }},
		{"app-private-key", " pem\n", func(in *config.Inputs) { in.AppKey, in.Secrets[2] = "pem", "pem" }},
		{"anthropic-api-key", "sk-1", func(in *config.Inputs) { in.Agent.Keys.AnthropicAPIKey, in.Secrets[3] = "sk-1", "sk-1" }},
		{"openai-api-key", "sk-2", func(in *config.Inputs) { in.Agent.Keys.OpenAIAPIKey, in.Secrets[5] = "sk-2", "sk-2" }},
		{"provider-api-key", "k", func(in *config.Inputs) { in.Agent.Keys.ProviderAPIKey, in.Secrets[7] = "k", "k" }},
		{"gemini-api-key", "gem", func(in *config.Inputs) { in.Agent.Keys.GeminiAPIKey, in.Secrets[6] = "gem", "gem" }},
		{"claude-code-oauth-token", "oat", func(in *config.Inputs) { in.Agent.Keys.ClaudeCodeOAuthToken, in.Secrets[4] = "oat", "oat" }},
		{"model-base-url", "http://127.0.0.1:1", func(in *config.Inputs) { in.Agent.Keys.ModelBaseURL = "http://127.0.0.1:1" }},
		{"agent", "claude", func(in *config.Inputs) { in.AgentName = "claude" }},
		{"model", "opus", func(in *config.Inputs) { in.Policy.Model = "opus" }},
		{"max-cost-per-day", "$40", func(in *config.Inputs) { in.Quota.USD = 40 }},
		{"prompt", " Mend the docs\n", func(in *config.Inputs) { in.Prompt = "Mend the docs" }},
		{"issue", "7", func(in *config.Inputs) { in.Issue = 7 }},
		{"allow-users", "ada, bob\ncy,", func(in *config.Inputs) { in.Rules.AllowUsers = []string{"ada", "bob", "cy"} }},
		{"allow-users", ",", func(*config.Inputs) {}},
		{"allow-bots", "dependabot[bot]", func(in *config.Inputs) { in.Rules.AllowBots = []string{"dependabot[bot]"} }},
		{"checks", " make test, all \n\n make lint\r\n", func(in *config.Inputs) {
			in.Policy.Checks = policy.NewChecks([]string{"make test, all", "make lint"}, policy.DefaultCheckTimeout)
		}},
		{"setup", "npm ci\n make gen, all \n\nnpm ci\r\n", func(in *config.Inputs) {
			in.Policy.Setup = policy.NewSetup([]string{"npm ci", "make gen, all", "npm ci"}, policy.DefaultCheckTimeout)
		}},
		{"agent-version", "2.1.300", func(in *config.Inputs) { in.AgentVersion = "2.1.300" }},
		{"cache", ".ralph-cache", func(in *config.Inputs) { in.Cache = ".ralph-cache" }},
		{"config", "ci/ralph.json", func(in *config.Inputs) { in.Config = "ci/ralph.json" }},
		{"max-cost", "$2.50", func(in *config.Inputs) { in.Policy.Limits.CostUSD = 2.5 }},
		{"max-cost", "0", func(in *config.Inputs) { in.Policy.Limits.CostUSD = 0 }},
		{"mode", "prove", func(in *config.Inputs) { in.Mode = config.ProvePull }},
		{"mode", "publish", func(in *config.Inputs) { in.Mode = config.PublishProof }},
		{"sandbox", "none", func(in *config.Inputs) { in.Sandbox.Level = sandbox.None }},
		{"sandbox", "key-in-agent", func(in *config.Inputs) { in.Sandbox.KeyInAgent = true }},
		{"sandbox", "notify, key-in-agent", func(in *config.Inputs) { in.Sandbox.Level, in.Sandbox.KeyInAgent = sandbox.Notify, true }},
		{"allow-domains", "a.example, b.example:8443", func(in *config.Inputs) { in.Sandbox.Network.Allow = []string{"a.example", "b.example:8443"} }},
	} {
		want, err := config.ReadInputs(with(nil))
		if err != nil {
			t.Fatal(err)
		}
		test.change(&want)
		got, err := config.ReadInputs(with(map[string]string{test.name: test.value}))
		if err != nil {
			t.Errorf("%s %q: %v", test.name, test.value, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", test.name, test.value, diff)
		}
	}
}

var wrong = []struct{ name, value, why string }{
	{"app-id", "my-app", `app-id: "my-app" is not a whole number, write digits only, such as 7`},
	{"max-cost", "much", `max-cost: "much" is not an amount of dollars`},
	{"max-cost", "NaN", `max-cost: "NaN" is not an amount of dollars`},
	{"sandbox", "full", `sandbox: "full" is not one of auto, namespace, notify, external, none, key-in-agent`},
	{"sandbox", "namespace, none", `sandbox: "namespace, none" names more than one level`},
	{"allow-domains", "*.example.com", `allow-domains: cannot allow "*.example.com": hosts are named exactly, not by patterns`},
	{"cache", "../cache", `cache: "../cache" is outside the repository`},
	{"cache", ".git/cache", `cache: ".git/cache" is in use`},
	{"config", "/etc/settings.json", `config: "/etc/settings.json" is outside the repository`},
	{"allow-users", "@ada", `allow-users: "@ada": write one name per line, without @ and blanks`},
	{"allow-bots", "a b", `allow-bots: "a b": write one name per line, without @ and blanks`},
	{"checks", "paths: {web -> true", `checks: "{web" is not a glob with closed brackets and braces`},
}

func TestWrongValues(t *testing.T) {
	for _, test := range wrong {
		in, err := config.ReadInputs(with(map[string]string{test.name: test.value}))
		if err == nil || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s %q: %v, want %q in it", test.name, test.value, err, test.why)
		}
		if fault.Exit(err) != fault.ExitUsage || !strings.Contains(fault.Hint(err), "with:") {
			t.Errorf("%s %q: exit %d, hint %q", test.name, test.value, fault.Exit(err), fault.Hint(err))
		}
		if diff := cmp.Diff(config.Inputs{}, in); diff != "" {
			t.Errorf("%s %q is refused and used (-want +got):\n%s", test.name, test.value, diff)
		}
	}
}

// The error has all problems, each once, and no secret.
func TestAllProblemsAreReportedTogether(t *testing.T) {
	values, last := map[string]string{"github-token": "s3cret-token", "anthropic-api-key": "s3cret-key"}, map[string]string{}
	for _, test := range wrong {
		values[test.name], last[test.name] = test.value, test.why
	}
	_, err := config.ReadInputs(with(values))
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Fatalf("everything is wrong, and the error is %v", err)
	}
	for name, why := range last {
		if n := strings.Count(err.Error(), why); n != 1 {
			t.Errorf("%q of %s is said %d times in\n%v", why, name, n, err)
		}
	}
}

// An unknown input is an error: a misspelled limit would limit nothing.
func TestUnknownInputsAreRefused(t *testing.T) {
	for given, want := range map[string]string{
		"MAX_COST":     "max_cost: unknown input, use `max-cost`",
		"CLAUDE_ARGS":  "claude_args: unknown input, docs/inputs.md lists the known ones",
		"ALLOWED_BOTS": "allowed_bots: unknown input, use `allow-bots`",
		"LABEL":        `the input "label" was removed: set "github.label" in .ralph/settings.json, and name that file with the input ` + "`config`",
	} {
		_, err := config.ReadInputs(with(nil), "MAX-COST", given, "ARGS")
		if err == nil || err.Error() != "invalid inputs: "+want {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}

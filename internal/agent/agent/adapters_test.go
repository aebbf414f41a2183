package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
)

// what every CLI is picked with, so that none has anything to complain of.
func complete(command string, args ...string) agent.Options {
	return agent.Options{
		Command: command, Args: args, Script: "s", Self: "/ralph",
		Keys: agent.Keys{
			AnthropicAPIKey: "a", OpenAIAPIKey: "o", GeminiAPIKey: "g", ProviderAPIKey: "p", ModelBaseURL: "http://127.0.0.1:1",
		},
		NeedKey: true,
	}
}

// No key is where everybody can read it, none reaches an agent as a token of
// GitHub's, and what an agent goes by of the user's is no secret.
func TestNoAdapterGivesAKeyAway(t *testing.T) {
	keys := agent.Keys{
		AnthropicAPIKey: "secret-1", ClaudeCodeOAuthToken: "secret-2", OpenAIAPIKey: "secret-3",
		GeminiAPIKey: "secret-5", ProviderAPIKey: "secret-6", ModelBaseURL: "http://127.0.0.1:1",
	}
	for _, name := range agent.Names() {
		adapter, err := agent.Pick(name, agent.Options{Command: "x", Script: "s", Self: "/ralph", Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		order := agent.Order{Prompt: "p", Model: "anthropic/m", Home: "/tmp/home"}
		if argv := strings.Join(slices.Concat(adapter.Argv(order), adapter.Version), " "); strings.Contains(argv, "secret") {
			t.Errorf("%s: argv = %s", name, argv)
		}
		for _, variable := range adapter.Env(order) {
			if strings.Contains(variable, "GITHUB_TOKEN=") || strings.Contains(variable, "GH_TOKEN=") || strings.HasPrefix(variable, "OPENCODE_CONFIG_CONTENT=") && strings.Contains(variable, "secret") {
				t.Errorf("%s: env has %s", name, variable)
			}
		}
		for _, text := range adapter.Home {
			if strings.Contains(text, "secret") {
				t.Errorf("%s: a file of its home = %s", name, text)
			}
		}
		kept := environ.Job(func(string) string { return "v" }, adapter.Vars...)
		for _, variable := range adapter.Vars {
			if !slices.Contains(kept, variable+"=v") || len(environ.Harmless([]string{variable + "=v"})) == 0 {
				t.Errorf("%s goes by %s, which is a secret", name, variable)
			}
		}
	}
}

// Seed 001's tables, as people have them in their settings.
func TestFlagsOfSeed001GoOnWorking(t *testing.T) {
	tests := map[string]struct {
		agent, command, args string
		want                 string // in argv, in that order
		notes                []string
	}{
		"claude": {
			agent: "claude", command: "claude -p", args: "--output-format stream-json --verbose --model opus",
			want: "claude -p --output-format stream-json --verbose --dangerously-skip-permissions --setting-sources user --model opus",
		},
		"claude in text": {
			agent: "claude", args: "--print --output-format=text",
			want:  "claude -p --output-format stream-json --verbose --dangerously-skip-permissions --setting-sources user",
			notes: []string{"--output-format is always stream-json: another value is ignored"},
		},
		"amp": {
			agent: "amp", command: "amp -x", args: "--stream-json --dangerously-allow-all --no-ide",
			want: "amp --stream-json --dangerously-allow-all --no-ide -x work",
		},
		"amp in text": {
			agent: "amp", args: "--execute --dangerously-allow-all",
			want: "amp --stream-json --dangerously-allow-all -x work",
		},
		"codex in text": {
			agent: "codex", args: "--full-auto -o out.txt",
			want:  `codex exec --json -c project_doc_max_bytes=0 -c service_tier="default" --dangerously-bypass-approvals-and-sandbox -o out.txt -`,
			notes: []string{"codex no longer has --full-auto: --dangerously-bypass-approvals-and-sandbox replaces it"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			options := complete(test.command, strings.Fields(test.args)...)
			if test.agent != "amp" {
				options.Keys.ModelBaseURL = ""
			}
			adapter, err := agent.Pick(test.agent, options)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(adapter.Argv(agent.Order{Prompt: "work"}), " ")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("argv (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.notes, adapter.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestVersionsAreAskedFor(t *testing.T) {
	tests := map[string]struct{ agent, command, want string }{
		"claude":            {"claude", "", "claude --version"},
		"codex":             {"codex", "/opt/codex --full-auto e", "/opt/codex --version"},
		"more words":        {"codex", "codex mcp add x sh", ""},
		"opencode":          {"opencode", "opencode acp", "opencode --version"},
		"a program unknown": {"command", "x", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick(test.agent, complete(test.command))
			if got := strings.Join(adapter.Version, " "); err != nil || got != test.want {
				t.Errorf("Version = %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestReadVersion(t *testing.T) {
	tests := map[string]struct{ printed, want string }{
		"claude":        {"2.1.328 (Claude Code)\n", "2.1.328"},
		"copilot":       {"GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n", "1.0.102"},
		"amp":           {"0.0.1763222400-g1a2b3c (released 2026-11-15T12:00:00.000Z, 2d ago)\n", "0.0.1763222400-g1a2b3c"},
		"a prerelease":  {"v1.2.3-rc.1+build.5, they say", "1.2.3-rc.1+build.5"},
		"a warning too": {"(node:12) Warning: node 20 is old\ntool 3.2.1\n", "3.2.1"},
		"none":          {"usage: tool [flags]", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, known := agent.ReadVersion(test.printed); got != test.want || known != (test.want != "") {
				t.Errorf("ReadVersion = %q, %v, want %q", got, known, test.want)
			}
		})
	}
}

// A home is made where the program's temporary files go, and taken away with
// all that was left in it.
func TestAHomeOfItsOwn(t *testing.T) {
	s := agenttest.New(t, "gemini", complete(agenttest.Self(t, "env")))
	tmp := t.TempDir()
	s.Env = append(s.Env, "TMPDIR="+tmp)
	var settings []byte
	s.Run = func(context.Context, process.Command) (process.Result, error) {
		homes, err := filepath.Glob(filepath.Join(tmp, "*", ".gemini"))
		if err != nil || len(homes) != 1 {
			t.Fatalf("homes: %v, %v", homes, err)
		}
		settings, err = os.ReadFile(filepath.Join(homes[0], "settings.json"))
		return process.Result{}, errors.Join(err, os.WriteFile(filepath.Join(homes[0], "left"), nil, 0o600))
	}
	if _, err := s.Do(t.Context(), order); err != nil || !strings.Contains(string(settings), "selectedType") {
		t.Errorf("Do = %v, settings %s", err, settings)
	}
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

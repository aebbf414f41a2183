package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

func TestPick(t *testing.T) {
	tests := map[string]struct {
		name    string
		options agent.Options
		want    string
		hint    string
	}{
		"by name":                      {name: "claude", want: "claude"},
		"nothing said":                 {want: "claude"},
		"by the command's name":        {options: agent.Options{Command: "/opt/bin/claude --x"}, want: "claude"},
		"amp, by its command":          {options: agent.Options{Command: "~/.amp/bin/amp", Keys: agent.Keys{ProviderAPIKey: "k"}}, want: "amp"},
		"a command of no known name":   {options: agent.Options{Command: "./agent.sh"}, want: "command"},
		"a command that is no command": {options: agent.Options{Command: "a | b"}, hint: "sh -c"},
		"without a needed key":         {name: "claude", options: agent.Options{NeedKey: true}, hint: "anthropic-api-key"},
		"no command":                   {name: "command", hint: "agent-command"},
		"no script":                    {name: "scripted", hint: "script"},
		"an unknown name":              {name: "cluade", hint: `did you mean "claude"?`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			adapter, err := agent.Pick(test.name, test.options)
			if adapter.Name != test.want || !strings.Contains(fault.Hint(err), test.hint) || (err != nil) != (test.hint != "") {
				t.Errorf("Pick = %q, %v (hint: %s), want %q (hint: %s)", adapter.Name, err, fault.Hint(err), test.want, test.hint)
			}
		})
	}
}

func TestCommandIsStartedAs(t *testing.T) {
	adapter, err := agent.Pick("command", agent.Options{
		Command: `my-agent --title "two words" 'it''s' a\ b`,
		Args:    []string{"--last"},
		Keys:    agent.Keys{AnthropicAPIKey: "k", OpenAIAPIKey: "o", GeminiAPIKey: "g", ProviderAPIKey: "p"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"my-agent", "--title", "two words", "its", "a b", "--last"}
	if diff := cmp.Diff(want, adapter.Argv(agent.Order{})); diff != "" {
		t.Errorf("argv (-want +got):\n%s", diff)
	}
	want = []string{"ANTHROPIC_API_KEY=k", "CODEX_API_KEY=o", "GEMINI_API_KEY=g", "PROVIDER_API_KEY=p", "RALPH_MODEL=m"}
	if diff := cmp.Diff(want, adapter.Env(agent.Order{Model: "m"})); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bin/tool", "tree/tool", "tree/only"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "text"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=.:tree::" + filepath.Join(dir, "bin")}
	tree := filepath.Join(dir, "tree")
	tests := map[string]struct{ program, want string }{
		"in PATH":                       {"tool", filepath.Join(dir, "bin", "tool")},
		"only by a relative PATH entry": {"only", ""},
		"not executable":                {"text", ""},
		"a folder":                      {filepath.Join(dir, "bin"), ""},
		"by a path from the tree":       {"./only", filepath.Join(tree, "only")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(dir)
			got, err := agent.Adapter{Program: test.program}.Locate(env, tree)
			if err != nil {
				got = ""
			}
			if got != test.want {
				t.Errorf("Locate = %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

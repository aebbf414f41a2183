package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// A sandbox takes the prompt as an argument, and the program inside would take
// one that begins with a dash for a flag.
func TestDockerTakesAnyPrompt(t *testing.T) {
	adapter, err := agent.Pick("claude", agent.Options{Docker: &agent.Docker{State: "/home/me/.dclaude_state"}, Args: []string{"--effort", "high"}})
	if err != nil {
		t.Fatal(err)
	}
	for prompt, want := range map[string]string{
		"do it":     "do it",
		"- [ ] one": "\n- [ ] one",
		"---\na: b": "\n---\na: b",
	} {
		order := agent.Order{Prompt: prompt, Model: "opus", Dir: "/work"}
		got := adapter.Argv(order)
		argv := []string{
			"docker", "sandbox", "run", "-t", "dclaude:latest", "claude", "/work", "/home/me/.dclaude_state", "--", "-p", want,
			"--output-format", "stream-json", "--verbose", "--setting-sources", "user",
			"--model", "opus", "--effort", "high",
		}
		if diff := cmp.Diff(argv, got); diff != "" {
			t.Errorf("argv (-want +got):\n%s", diff)
		}
		if adapter.Stdin(order) != "" || slices.Contains(adapter.Env(order), prompt) {
			t.Errorf("the prompt %q is somewhere else, too", prompt)
		}
	}
}

// Where Docker is missing, the error names what else there is.
func TestDockerIsMissing(t *testing.T) {
	adapter, err := agent.Pick("claude", agent.Options{Docker: &agent.Docker{State: "/home/me/.dclaude_state"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = adapter.Locate([]string{"PATH=" + t.TempDir()}, t.TempDir())
	if err == nil || err.Error() != "no Docker sandbox: docker is not installed" {
		t.Errorf("the error is %v", err)
	}
	if hint := fault.Hint(err); !strings.Contains(hint, "sbx") || !strings.HasSuffix(hint, "or give --no-sandbox") {
		t.Errorf("the hint is %q", hint)
	}
}

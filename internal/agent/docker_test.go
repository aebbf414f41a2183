package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/stream"
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
			"--settings", `{"env":{"CLAUDE_CODE_DISABLE_WORKFLOWS":"1","CLAUDE_CODE_FORWARD_SUBAGENT_TEXT":"1"}}`,
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

// The files of its sessions lie beside the login.
func TestDockerCountsTheOutput(t *testing.T) {
	state := t.TempDir()
	file := filepath.Join(state, ".claude", "projects", "-work", "s7.jsonl")
	const message = `"message":{"id":"m1","usage":{"output_tokens":%d}}}`
	adapter, err := agent.Pick("claude", agent.Options{Docker: &agent.Docker{State: state}})
	err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, fmt.Appendf(nil, `{"type":"assistant",`+message+"\n", 7), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{}).(follower)
	decoder.Line([]byte(`{"type":"system","subtype":"init","session_id":"s7"}`))
	decoder.Line(fmt.Appendf(nil, `{"type":"assistant",`+message, 1))
	for _, item := range decoder.Follow() {
		if spent, is := item.(stream.Spent); is && spent.Usage.Output == 7 {
			return
		}
	}
	t.Error("the output is not counted")
}

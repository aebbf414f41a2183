package agent_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// What the adapters say they were tested with is what make agents installs.
func TestAdaptersNameTheVersionsOfTheTests(t *testing.T) {
	data, err := os.ReadFile("../../tools/agents/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var pins struct{ DevDependencies map[string]string }
	if err := json.Unmarshal(data, &pins); err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{
		"amp": "@sourcegraph/amp", "claude": "@anthropic-ai/claude-code", "codex": "@openai/codex",
		"copilot": "@github/copilot", "gemini": "@google/gemini-cli", "opencode": "opencode-ai",
	}
	for name, from := range packages {
		adapter, err := agent.Pick(name, agent.Options{Keys: agent.Keys{AmpAPIKey: "key"}})
		if err != nil {
			t.Fatal(err)
		}
		if want := pins.DevDependencies[from]; adapter.Tested != want || want == "" {
			t.Errorf("%s was tested with %q, and make agents installs %q", name, adapter.Tested, want)
		}
	}
}

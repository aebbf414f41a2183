package agent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
)

// Whose key stays outside, and what its agent gets in the place of it: no
// test's key is ever inside.
func TestKeysBehind(t *testing.T) {
	const server, token = "http://127.0.0.1:1", "token"
	all := agent.Keys{
		AnthropicAPIKey: "ant", ClaudeCodeOAuthToken: "login", OpenAIAPIKey: "oai", AmpAPIKey: "amp", GeminiAPIKey: "gem",
		CopilotProviderAPIKey: "cop", ModelBaseURL: "https://base",
	}
	for _, test := range []struct {
		name, model string
		keys        agent.Keys
		makers      []agent.Maker
		inside      agent.Keys
		cannot      bool
	}{
		{name: "claude", keys: all, makers: []agent.Maker{{API: "anthropic", Base: "https://base", Key: "ant"}}, inside: agent.Keys{AnthropicAPIKey: token}},
		{
			name: "claude", keys: agent.Keys{ClaudeCodeOAuthToken: "login"}, makers: []agent.Maker{{API: "anthropic", Key: "login", Bearer: true}},
			inside: agent.Keys{ClaudeCodeOAuthToken: token},
		},
		{name: "claude"},
		{name: "command", keys: all, makers: []agent.Maker{{API: "anthropic", Base: "https://base", Key: "ant"}}, inside: agent.Keys{AnthropicAPIKey: token}},
		{name: "codex", keys: all, makers: []agent.Maker{{API: "openai", Base: "https://base", Key: "oai"}}, inside: agent.Keys{OpenAIAPIKey: token}},
		{name: "gemini", keys: all, makers: []agent.Maker{{API: "gemini", Base: "https://base", Key: "gem"}}, inside: agent.Keys{GeminiAPIKey: token}},
		{name: "copilot", keys: all, makers: []agent.Maker{{API: "openai", Base: "https://base", Key: "cop"}}, inside: agent.Keys{CopilotProviderAPIKey: token}},
		{name: "copilot", keys: agent.Keys{CopilotProviderAPIKey: "cop", CopilotProviderType: "azure"}, makers: []agent.Maker{{API: "azure", Key: "cop"}}, cannot: true},
		{name: "copilot", keys: agent.Keys{CopilotProviderType: "azure"}},
		{name: "opencode", model: "anthropic/x", keys: all, makers: []agent.Maker{{API: "anthropic", Base: "https://base", Key: "ant"}}, inside: agent.Keys{AnthropicAPIKey: token}},
		{name: "opencode", model: "google/x", keys: all, makers: []agent.Maker{{API: "gemini", Base: "https://base", Key: "gem"}}, inside: agent.Keys{GeminiAPIKey: token}},
		{name: "opencode", model: "openai/x", keys: all, makers: []agent.Maker{{API: "openai", Base: "https://base", Key: "oai"}}, inside: agent.Keys{OpenAIAPIKey: token}},
		{name: "opencode", model: "groq/x", keys: all, cannot: true},
		{name: "opencode", keys: all, cannot: true},
		{name: "opencode"},
		{name: "amp", keys: all, cannot: true},
		{name: "amp"},
		{name: "scripted", keys: all},
	} {
		makers, can := test.keys.Makers(test.name, test.model)
		if diff := cmp.Diff(test.makers, makers); diff != "" || can == test.cannot {
			t.Errorf("%s %s: can %v, makers (-want +got):\n%s", test.name, test.model, can, diff)
		}
		if test.cannot || len(makers) == 0 {
			continue
		}
		test.inside.ModelBaseURL, test.inside.Bounded = server, true
		if diff := cmp.Diff(test.inside, test.keys.Behind(makers, server, token)); diff != "" {
			t.Errorf("%s %s inside (-want +got):\n%s", test.name, test.model, diff)
		}
	}
}

func TestConfined(t *testing.T) {
	env := []string{"PATH=/bin", "CODEX_HOME=/x", "CLAUDE_CONFIG_DIR=/y", "XDG_CONFIG_HOME=/z", "OPENCODE_CONFIG=/c", "HOME=/h", "LANG=C"}
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/h", "LANG=C"}, agent.Confined(env)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package agent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

func TestKeysFrom(t *testing.T) {
	machine := map[string]string{
		"ANTHROPIC_API_KEY": "a", "CLAUDE_CODE_OAUTH_TOKEN": "o", "CODEX_API_KEY": "c", "AMP_API_KEY": "m", "PROVIDER_API_KEY": "x",
		"ANTHROPIC_BASE_URL": "http://claude", "OPENAI_BASE_URL": "http://codex", "OPENAI_API_KEY": "of something else",
		"GEMINI_API_KEY": "g", "GOOGLE_GEMINI_BASE_URL": "http://gemini",
		"COPILOT_PROVIDER_API_KEY": "p", "COPILOT_PROVIDER_TYPE": "anthropic", "COPILOT_PROVIDER_BASE_URL": "http://copilot", "GITHUB_TOKEN": "of the job",
	}
	tests := map[string]struct{ name, command, base, openAI, provider string }{
		"claude":               {name: "claude", base: "http://claude"},
		"copilot":              {name: "copilot", base: "http://copilot", provider: "p"},
		"opencode":             {name: "opencode", openAI: "of something else"},
		"amp":                  {name: "amp", provider: "m"},
		"qwen":                 {name: "qwen", base: "http://codex", provider: "of something else"},
		"any other":            {name: "acp", provider: "x"},
		"codex, by its path":   {command: "/opt/codex -m x", base: "http://codex"},
		"another of that path": {name: "command", command: "/opt/codex", base: "http://claude", provider: "x"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := agent.KeysFrom(func(name string) string { return machine[name] }, test.name, test.command)
			want := agent.Keys{
				AnthropicAPIKey: "a", ClaudeCodeOAuthToken: "o", OpenAIAPIKey: "c", GeminiAPIKey: "g",
				ProviderAPIKey: test.provider, ProviderType: "anthropic", ModelBaseURL: test.base,
			}
			if test.openAI != "" {
				want.OpenAIAPIKey = test.openAI
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("KeysFrom (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	keys := agent.Keys{AnthropicAPIKey: "a", ClaudeCodeOAuthToken: "o", OpenAIAPIKey: "c", GeminiAPIKey: "g", ProviderAPIKey: "p", ModelBaseURL: "http://host"}
	if diff := cmp.Diff([]string{"a", "o", "c", "g", "p"}, keys.Secrets()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
}

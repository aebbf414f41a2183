package agent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
)

func TestKeysFrom(t *testing.T) {
	machine := map[string]string{
		"ANTHROPIC_API_KEY": "a", "CLAUDE_CODE_OAUTH_TOKEN": "o", "CODEX_API_KEY": "c", "AMP_API_KEY": "m",
		"ANTHROPIC_BASE_URL": "http://claude", "OPENAI_BASE_URL": "http://codex", "OPENAI_API_KEY": "of something else",
	}
	tests := map[string]struct{ name, command, base string }{
		"claude":               {name: "claude", base: "http://claude"},
		"nothing said":         {base: "http://claude"},
		"codex":                {name: "codex", base: "http://codex"},
		"codex, by its path":   {command: "/opt/codex -m x", base: "http://codex"},
		"another of that path": {name: "command", command: "/opt/codex", base: "http://claude"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := agent.KeysFrom(func(name string) string { return machine[name] }, test.name, test.command)
			want := agent.Keys{AnthropicAPIKey: "a", ClaudeCodeOAuthToken: "o", OpenAIAPIKey: "c", AmpAPIKey: "m", ModelBaseURL: test.base}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("KeysFrom (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSecrets(t *testing.T) {
	keys := agent.Keys{AnthropicAPIKey: "a", ClaudeCodeOAuthToken: "o", OpenAIAPIKey: "c", AmpAPIKey: "m", ModelBaseURL: "http://host"}
	if diff := cmp.Diff([]string{"a", "o", "c", "m"}, keys.Secrets()); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
}

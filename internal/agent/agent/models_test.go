package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

// What an agent asks for is known by what it is told, in the words of its users
// too.
func TestModels(t *testing.T) {
	for _, test := range []struct{ agent, model, more, want string }{
		{"claude", "", "", ""},
		{"claude", "claude-opus-5-5", "", "claude-opus-5-5 claude-haiku-*"},
		{"claude", "claude-sonnet-4-6[1m]", "", "claude-sonnet-4-6 claude-haiku-*"},
		{"claude", "sonnet[1m]", "", "claude-sonnet-* claude-haiku-*"},
		{"claude", "opusplan", "", "claude-opus-* claude-sonnet-* claude-haiku-*"},
		{"claude", "opus", "claude-sonnet-4-6 x", "claude-opus-* claude-sonnet-4-6 x claude-haiku-*"},
		{"codex", "gpt-6.2-sol", "", "gpt-6.2-sol"},
		{"gemini", "gemini-2.5-pro", "", "gemini-2.5-pro gemini-*flash*"},
		{"gemini", "auto-gemini-3", "", "gemini-3* gemini-*flash*"},
		{"opencode", "anthropic/claude-sonnet-4-5", "", "claude-sonnet-4-5"},
		{"command", "vendor/model", "", "vendor/model"},
	} {
		got := strings.Join(agent.Models(test.agent, test.model, strings.Fields(test.more)), " ")
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", test.agent, test.model, diff)
		}
	}
}

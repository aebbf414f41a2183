package agent_test

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

// Whose key stays outside, and what its agent gets instead of it: no
// test's key is ever inside.
func TestKeysBehind(t *testing.T) {
	const server, token = "http://127.0.0.1:1", "token"
	all := agent.Keys{
		AnthropicAPIKey: "ant", ClaudeCodeOAuthToken: "login", OpenAIAPIKey: "oai", GeminiAPIKey: "gem",
		ProviderAPIKey: "cop", ModelBaseURL: "https://base",
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
		{name: "copilot", keys: all, makers: []agent.Maker{{API: "openai", Base: "https://base", Key: "cop"}}, inside: agent.Keys{ProviderAPIKey: token}},
		{name: "copilot", keys: agent.Keys{ProviderAPIKey: "cop", ProviderType: "azure"}, makers: []agent.Maker{{API: "azure", Key: "cop"}}, cannot: true},
		{name: "opencode", model: "anthropic/x", keys: all, makers: []agent.Maker{{API: "anthropic", Base: "https://base", Key: "ant"}}, inside: agent.Keys{AnthropicAPIKey: token}},
		{name: "opencode", model: "google/x", keys: all, makers: []agent.Maker{{API: "gemini", Base: "https://base", Key: "gem"}}, inside: agent.Keys{GeminiAPIKey: token}},
		{name: "opencode", model: "openai/x", keys: all, makers: []agent.Maker{{API: "openai", Base: "https://base", Key: "oai"}}, inside: agent.Keys{OpenAIAPIKey: token}},
		{name: "opencode", model: "groq/x", keys: all, makers: []agent.Maker{{API: "openai", Base: "https://base", Key: "oai"}}, inside: agent.Keys{OpenAIAPIKey: token}},
		{name: "opencode", model: "groq/x", keys: agent.Keys{OpenAIAPIKey: "oai"}, cannot: true},
		{name: "opencode", model: "groq/x", keys: agent.Keys{GeminiAPIKey: "gem", ModelBaseURL: "https://base"}, cannot: true},
		{name: "opencode", keys: all, cannot: true},
		{name: "amp", keys: all, cannot: true},
		{name: "scripted", keys: all},
		{name: "unknown", keys: all, cannot: true},
		{name: "unknown", cannot: true},
	} {
		makers, can := test.keys.Makers(test.name, test.model)
		if diff := gocmp.Diff(test.makers, makers); diff != "" || can == test.cannot {
			t.Errorf("%s %s: can %v, makers (-want +got):\n%s", test.name, test.model, can, diff)
		}
		if test.cannot || len(makers) == 0 {
			continue
		}
		test.inside.ModelBaseURL, test.inside.Bounded = server, true
		if diff := gocmp.Diff(test.inside, test.keys.ForModelServer(makers, server, token)); diff != "" {
			t.Errorf("%s %s inside (-want +got):\n%s", test.name, test.model, diff)
		}
	}
}

// What an agent's user has set up by themselves counts before the key in the
// environment: then that agent is sent to no other server.
func TestKeysByKey(t *testing.T) {
	for name, test := range map[string]struct {
		agent, file, text, env string
		want, chosen           bool
	}{
		"nothing":                  {agent: "claude", want: true},
		"settings of other things": {agent: "claude", file: ".claude/settings.json", text: `{"env":{"FOO":"1"}}`, want: true},
		"a gateway":                {agent: "claude", file: ".claude/settings.json", text: `{"env":{"ANTHROPIC_BASE_URL" : "https://x"}}`},
		"a cloud":                  {agent: "claude", env: "CLAUDE_CODE_USE_BEDROCK=1"},
		"a company's gateway":      {agent: "claude", file: "managed/10.json", text: `{"env":{"ANTHROPIC_BASE_URL":"https://x"}}`},
		"a company's other rules":  {agent: "claude", file: "managed/10.json", text: `{"env":{"FOO":"1"}}`, want: true},
		"a company's provider":     {agent: "codex", file: "managed/10.json", text: "model_provider = 'corp'\n"},
		"a folder of its own":      {agent: "claude", file: "elsewhere/settings.json", text: `{"apiKeyHelper":"x"}`, env: "CLAUDE_CONFIG_DIR=elsewhere"},
		"a provider":               {agent: "codex", file: ".codex/config.toml", text: "model = 'x'\n model_provider = 'azure'\n"},
		"a model":                  {agent: "codex", file: ".codex/config.toml", text: "model = 'x'\n# model_provider = 'azure'\n", want: true},
		"a login":                  {agent: "gemini", file: ".gemini/settings.json", text: `{"security":{"auth":{"selectedType":"oauth-personal"}}}`},
		"a login by a variable":    {agent: "gemini", env: "GOOGLE_GENAI_USE_GCA=true"},
		"a key":                    {agent: "gemini", file: ".gemini/settings.json", text: `{"security":{"auth":{"selectedType": "gemini-api-key"}}}`, want: true, chosen: true},
	} {
		home := t.TempDir()
		path := filepath.Join(home, test.file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(filepath.Join(home, cmp.Or(test.file, "none")), []byte(test.text), 0o600)); err != nil {
			t.Fatal(err)
		}
		agent.Manage(t.Cleanup, test.agent, home+"/managed/*.json")
		var keys agent.Keys
		env := []string{"HOME=" + home, strings.Replace(test.env, "=elsewhere", "="+home+"/elsewhere", 1)}
		if got := keys.ChooseKey(test.agent, env); got != test.want || keys.KeySelected != test.chosen {
			t.Errorf("%s: ByKey = %v, chosen %v", name, got, keys.KeySelected)
		}
	}
}

package agent_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// What each agent runs by its user's word is nobody's to change inside, and lies
// where it keeps its things; its login and its sessions stay its own.
func TestSettled(t *testing.T) {
	for name, want := range map[string]struct{ settled, own []string }{
		"claude":   {[]string{".claude/settings.json", ".claude/settings.local.json", ".claude/hooks"}, []string{".claude.json", ".claude/.credentials.json", ".claude/projects"}},
		"codex":    {[]string{".codex/config.toml", ".codex/hooks.json"}, []string{".codex/auth.json", ".codex/sessions"}},
		"gemini":   {[]string{".gemini/settings.json", ".gemini/trustedFolders.json"}, []string{".gemini/oauth_creds.json", ".gemini/tmp"}},
		"opencode": {[]string{".config/opencode/opencode.json", ".config/opencode/plugin"}, []string{".local/share/opencode/auth.json"}},
		"copilot":  {[]string{".copilot/mcp-config.json", ".copilot/hooks"}, []string{".copilot/config.json", ".copilot/session-state"}},
		"amp":      {[]string{".config/amp/settings.json"}, []string{".local/share/amp/secrets.json"}},
	} {
		adapter, err := agent.Pick(name, agent.Options{Keys: agent.Keys{AmpAPIKey: "k"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range want.settled {
			if !covers(adapter.Settled, path) {
				t.Errorf("%s: %s is anybody's: %q", name, path, adapter.Settled)
			}
		}
		for _, path := range want.own {
			if covers(adapter.Settled, path) || !covers(adapter.State, path) {
				t.Errorf("%s cannot write %s", name, path)
			}
		}
		for _, path := range adapter.Settled {
			if !covers(adapter.State, path) {
				t.Errorf("%s: %s lies nowhere in %q", name, path, adapter.State)
			}
		}
	}
}

// covers tells whether path is one of paths, or lies in one.
func covers(paths []string, path string) bool {
	for _, above := range paths {
		if path == above || strings.HasPrefix(path, above+"/") {
			return true
		}
	}
	return false
}

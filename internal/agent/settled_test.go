package agent_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
)

// What each agent runs by its user's word is nobody's to change inside, and lies
// where it keeps its things; its login and its sessions stay its own.
func TestSettled(t *testing.T) {
	for name, want := range map[string]struct{ settled, own []string }{
		"claude":   {[]string{".claude/settings.json", ".claude/settings.local.json", ".claude/hooks"}, []string{".claude.json", ".claude/.credentials.json", ".claude/projects"}},
		"codex":    {[]string{".codex/config.toml", ".codex/hooks.json", ".codex/agents", ".codex/managed_config.toml"}, []string{".codex/auth.json", ".codex/sessions"}},
		"gemini":   {[]string{".gemini/settings.json", ".gemini/trustedFolders.json", ".gemini/extensions/evil/gemini-extension.json"}, []string{".gemini/oauth_creds.json", ".gemini/tmp"}},
		"opencode": {[]string{".config/opencode/opencode.json", ".config/opencode/plugin", ".config/opencode/tui.json"}, []string{".local/share/opencode/auth.json"}},
		"copilot":  {[]string{".copilot/mcp-config.json", ".copilot/hooks"}, []string{".copilot/config.json", ".copilot/session-state"}},
		"amp":      {[]string{".config/amp/settings.json"}, []string{".local/share/amp/secrets.json"}},
	} {
		adapter, err := agent.Pick(name, agent.Options{Keys: agent.Keys{AmpAPIKey: "k"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range want.settled {
			if !covers(adapter.Settled.Paths, path) {
				t.Errorf("%s: %s is anybody's: %q", name, path, adapter.Settled.Paths)
			}
		}
		for _, path := range want.own {
			if covers(adapter.Settled.Paths, path) || !covers(adapter.State, path) {
				t.Errorf("%s cannot write %s", name, path)
			}
		}
		for _, path := range slices.Concat(adapter.Settled.Paths, adapter.Settled.Code, slices.Collect(maps.Keys(adapter.Settled.Fields))) {
			if !covers(adapter.State, path) {
				t.Errorf("%s: %s lies nowhere in %q", name, path, adapter.State)
			}
		}
	}
}

// Of two agents behind one sandbox, what either goes by is settled.
func TestSettledOfTwo(t *testing.T) {
	one := agent.Settled{Paths: []string{"a"}, Fields: map[string][]string{"f": {"x"}}}
	two := agent.Settled{Code: []string{"b"}, Fields: map[string][]string{"f": {"y"}, "g": {"z"}}}
	want := agent.Settled{Paths: []string{"a"}, Fields: map[string][]string{"f": {"x", "y"}, "g": {"z"}}, Code: []string{"b"}}
	if diff := cmp.Diff(want, one.And(two)); diff != "" {
		t.Error(diff)
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

// The state of every agent is known, also where it has no key.
func TestStates(t *testing.T) {
	states := agent.States()
	for _, want := range []string{".claude", ".codex", ".copilot", ".gemini", ".config/amp", ".local/share/opencode"} {
		if !slices.Contains(states, want) {
			t.Errorf("%s is missing in %q", want, states)
		}
	}
}

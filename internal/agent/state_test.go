package agent_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
)

// Of what each agent keeps, only its login and its sessions may change for good. What it
// starts for its user may not, nor an unknown file.
func TestStatesOfEach(t *testing.T) {
	for name, want := range map[string]struct{ settled, own []string }{
		"claude": {
			[]string{".claude/settings.json", ".claude/hooks", ".claude/plugins/x", ".claude/shell-snapshots/x.sh", ".claude/session-env/x", ".claude/projects/p/memory", ".claude/new"},
			[]string{".claude/.credentials.json", ".claude/projects/p/1.jsonl", ".claude/projects/p/1-2-3-4-5/x", ".claude/history.jsonl"},
		},
		"codex": {
			[]string{".codex/config.toml", ".codex/mine.config.toml", ".codex/hooks.json", ".codex/agents", ".codex/managed_config.toml", ".codex/shell_snapshots/x.sh", ".codex/tmp/arg0/x", ".codex/plugins", ".codex/new"},
			[]string{".codex/auth.json", ".codex/sessions/2026/x.jsonl", ".codex/state_5.sqlite-wal"},
		},
		"gemini": {
			[]string{".gemini/settings.json", ".gemini/trustedFolders.json", ".gemini/extensions/evil/gemini-extension.json", ".gemini/tmp/bin/rg", ".gemini/history/x/.git/config", ".gemini/new"},
			[]string{".gemini/oauth_creds.json", ".gemini/tmp/shop/chats/x.json", ".gemini/projects.json"},
		},
		"opencode": {
			[]string{".config/opencode/opencode.json", ".config/opencode/plugin", ".config/opencode/tui.json", ".local/share/opencode/bin/x", ".local/share/opencode/snapshot/x/config", ".local/share/opencode/opencode.db-wal", ".local/share/opencode/storage/x", ".local/share/opencode/new"},
			[]string{".local/share/opencode/auth.json", ".local/share/opencode/tool-output/x"},
		},
		"copilot": {
			[]string{".copilot/mcp-config.json", ".copilot/hooks", ".copilot/extensions", ".copilot/pkg/x", ".copilot/new"},
			[]string{".copilot/config.json", ".copilot/session-state/x", ".copilot/session-store.db"},
		},
		"amp": {[]string{".config/amp/settings.json", ".config/amp/plugins", ".cache/amp/bin", ".local/share/amp/new"}, []string{".local/share/amp/secrets.json"}},
	} {
		adapter, err := agent.Pick(name, agent.Options{Keys: agent.Keys{ProviderAPIKey: "k"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range want.settled {
			if !covers(adapter.State.Paths(), path) || changes(adapter.State, path) {
				t.Errorf("%s may change %s", name, path)
			}
		}
		for _, path := range want.own {
			if !changes(adapter.State, path) {
				t.Errorf("%s cannot write %s", name, path)
			}
		}
		for _, path := range adapter.State.Temp {
			if !covers(adapter.State.Paths(), path) || changes(adapter.State, path) {
				t.Errorf("%s: %s is no folder that goes away", name, path)
			}
		}
	}
}

// changes reports whether a path may change for good.
func changes(state agent.State, file string) bool {
	for dir, but := range state.Folders {
		way, within := strings.CutPrefix(file, dir+"/")
		for ; within && way != "."; way = path.Dir(way) {
			if slices.ContainsFunc(but, func(pattern string) bool { fits, err := path.Match(pattern, way); return fits && err == nil }) {
				return true
			}
		}
	}
	return false
}

// covers reports whether path is one of paths, or lies in one.
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
	var states []string
	for _, kept := range agent.States() {
		states = append(states, kept.Paths()...)
	}
	for _, want := range []string{".claude", ".codex", ".copilot", ".gemini", ".config/amp", ".local/share/opencode"} {
		if !slices.Contains(states, want) {
			t.Errorf("%s is missing in %q", want, states)
		}
	}
}

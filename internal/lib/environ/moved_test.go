package environ_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/lib/environ"
)

// Each variable that names another folder for what an agent keeps in the home counts, for that and nothing else.
func TestPathIn(t *testing.T) {
	for _, c := range []struct{ variable, path, want string }{
		{"", ".claude/projects", "/home/.claude/projects"},
		{"CLAUDE_CONFIG_DIR=/c", ".claude/projects", "/c/projects"},
		{"CLAUDE_CONFIG_DIR=/c", ".claude.json", "/c/.claude.json"},
		{"CLAUDE_CONFIG_DIR=/c", ".codex", "/home/.codex"},
		{"CLAUDE_CONFIG_DIR=", ".claude", "/home/.claude"},
		{"CLAUDE_CONFIG_DIR=c/d", ".claude", "/project/c/d"},
		{"CODEX_HOME=./x", ".codex/sessions", "/project/x/sessions"},
		{"COPILOT_HOME=/c", ".copilot", "/c"},
		{"GEMINI_CLI_HOME=/g", ".gemini/settings.json", "/g/.gemini/settings.json"},
		{"XDG_CONFIG_HOME=/x", ".config/opencode", "/x/opencode"},
		{"XDG_CONFIG_HOME=/x", ".configure", "/home/.configure"},
		{"XDG_DATA_HOME=/x", ".local/share/amp", "/x/amp"},
		{"XDG_STATE_HOME=/x", ".local/state/opencode", "/x/opencode"},
		{"OPENCODE_CONFIG_DIR=/x", "$OPENCODE_CONFIG_DIR/bun.lock", "/x/bun.lock"},
		{"OPENCODE_CONFIG=/x.json", "$OPENCODE_CONFIG", "/x.json"},
	} {
		if got := environ.PathIn([]string{"HOME=/home", c.variable}, "/project", c.path); got != c.want {
			t.Errorf("with %q, %s is %s, want %s", c.variable, c.path, got, c.want)
		}
	}
	if dir, way := environ.Place("$OPENCODE_CONFIG_DIR/bun.lock", "/home", nil); dir+way != "" {
		t.Errorf("without its variable, %s in %s", way, dir)
	}
}

// An empty one is unset for the agent, too, which could take another folder than is guarded.
func TestNoFolderIsUnset(t *testing.T) {
	env := []string{"CLAUDE_CONFIG_DIR=", "XDG_CONFIG_HOME=", "CODEX_HOME=/c", "GOPATH="}
	named := []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME"}
	want := []string{"CODEX_HOME=/c", "GOPATH="}
	for name, got := range map[string][]string{"Plain": environ.Plain(env, named...), "Local": environ.Local(env, named...)} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if left := environ.LeftOut(env, named...); left != nil {
		t.Errorf("%q seem to hold a login", left)
	}
}

func TestAbsolute(t *testing.T) {
	got := environ.Absolute([]string{"CODEX_HOME=x", "COPILOT_HOME=/c", "GEMINI_CLI_HOME=.", "XDG_DATA_HOME=", "GOPATH=go"}, "/project")
	if diff := cmp.Diff([]string{"CODEX_HOME=/project/x", "GEMINI_CLI_HOME=/project"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInNewHome(t *testing.T) {
	got := environ.InNewHome([]string{"CODEX_HOME=/c", "CODEX_HOME_X=/c", "XDG_CONFIG_HOME=", "HOME=/home", "GOPATH=/go"})
	if diff := cmp.Diff([]string{"CODEX_HOME_X=/c", "HOME=/home", "GOPATH=/go"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Settled is what of an agent's State its user alone says, or runs: by it the
// agent starts hooks, servers and commands where no sandbox is.
type Settled struct {
	Paths  []string            // files and folders, none of them large
	Fields map[string][]string // of JSON files that hold login or session besides, by their way down; * is any name
	Code   []string            // of the agent itself and its extensions, in folders of any size
}

// And is what either says; they are of agents that stand behind one sandbox.
func (s Settled) And(other Settled) Settled {
	all := Settled{Paths: slices.Concat(s.Paths, other.Paths), Fields: map[string][]string{}, Code: slices.Concat(s.Code, other.Code)}
	maps.Copy(all.Fields, s.Fields)
	for file, fields := range other.Fields {
		all.Fields[file] = slices.Concat(all.Fields[file], fields)
	}
	return all
}

// Local are the files in a project that are its user's alone, which git leaves out
// and no change of the work shows: an agent that is started there runs what they say.
func Local(project string) (paths []string) {
	for _, name := range []string{".claude/settings.local.json", ".gemini/.env"} {
		path := filepath.Join(project, filepath.FromSlash(name))
		if info, err := os.Lstat(filepath.Dir(path)); err == nil && !info.IsDir() {
			continue // what a link leads to is not the project's
		}
		paths = append(paths, path)
	}
	return paths
}

// claudeFields are of the file in which Claude Code keeps all that it knows of its
// user and of each project.
var claudeFields = []string{
	"mcpServers", "hooks", "env", "apiKeyHelper", "permissions", "enabledPlugins", "extraKnownMarketplaces", "bypassPermissionsModeAccepted",
	"customApiKeyResponses", "projects.*.mcpServers", "projects.*.enabledMcpjsonServers", "projects.*.enableAllProjectMcpServers",
	"projects.*.allowedTools", "projects.*.hasTrustDialogAccepted", "projects.*.hasTrustDialogHooksAccepted",
	"projects.*.hasClaudeMdExternalIncludesApproved",
}

// copilotFields have two spellings each: it changed them.
var copilotFields = []string{
	"hooks", "mcpServers", "lspServers", "marketplaces", "extraKnownMarketplaces", "enabledPlugins", "installedPlugins", "installed_plugins",
	"trustedFolders", "trusted_folders", "allowedUrls", "allowed_urls", "allowedTools", "allowed_tools", "bashEnv", "bash_env",
}

// moments are when Claude Code calls ralph while ralph's own loop works: for the guard
// against accidents, for how full the context is, and before a session ends.
var moments = []struct {
	event, word string // as the program and `ralph hook` call it
	matcher     string // the tools it is for; empty: all of them, or none
	seconds     int
}{
	{"SessionStart", "session-start", "", 10},
	{"PreToolUse", "pre-tool-use", "Bash|Monitor|Write|Edit|MultiEdit|NotebookEdit", 10},
	{"PostToolUse", "post-tool-use", ".*", 10},
	{"Stop", "stop", "", 60},
}

// hookSettings are settings in Claude Code's schema by which it calls the
// program self, and nobody else.
func hookSettings(self string) (string, error) {
	program, err := syntax.Quote(self, syntax.LangPOSIX)
	if err != nil {
		return "", err
	}
	type command struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type group struct {
		Matcher string    `json:"matcher,omitempty"`
		Hooks   []command `json:"hooks"`
	}
	hooks := map[string][]group{}
	for _, m := range moments {
		hooks[m.event] = []group{{m.matcher, []command{{"command", program + " hook " + m.word, m.seconds}}}}
	}
	text, err := json.Marshal(map[string]any{"hooks": hooks})
	return string(text), err
}

// Trusts is a fault where a tree, or a folder above one, holds what the program
// would run unasked: that is a repository's word, and not the user's.
func (a Adapter) Trusts(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		for _, name := range a.Unasked {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
				return fault.Usage(
					fmt.Sprintf("%s would run what lies in %s, and nothing keeps it from that", a.Name, filepath.Join(dir, name)),
					"take it away, choose another agent, or confine it: --sandbox", nil)
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

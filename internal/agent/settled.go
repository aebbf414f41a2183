package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ralph-loop/ralph/internal/fault"
)

// State is what an agent's program keeps in its user's home. All of it but what is
// named is put back after the program ran in a sandbox: by the rest it starts hooks,
// servers and extensions where no sandbox is, and new versions of it know more of those.
type State struct {
	// Folders are its folders in the home, each with what may change in there: logins,
	// and sessions to go on with. The ways are as path.Match has them.
	Folders map[string][]string
	// Files are its JSON files, each with the fields that may change, by the way down to
	// them with dots, where each name may be a pattern.
	Files map[string][]string
	Temp  []string // its folders for while it runs, with code in some: empty inside, where there are mounts
	Env   []string // what its program is told inside, besides
	Makes []string // patterns of what it makes by itself: that it was put back is no news
}

// Paths are its folders, and the files that lie in none of them.
func (s State) Paths() []string {
	paths := slices.Sorted(maps.Keys(s.Folders))
	for _, file := range slices.Sorted(maps.Keys(s.Files)) {
		if !slices.ContainsFunc(paths, func(dir string) bool { return strings.HasPrefix(file, dir+"/") }) {
			paths = append(paths, file)
		}
	}
	return paths
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

// hookSettings are settings in Claude Code's schema that call only the program
// self.
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
					fmt.Sprintf("%s would run files in %s, and no sandbox prevents it", a.Name, filepath.Join(dir, name)),
					"remove them, choose another agent, or use a sandbox: --sandbox", nil)
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

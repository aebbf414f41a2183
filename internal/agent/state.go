package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/shell"
)

// State is what an agent's program may change in the user's home, or where variables place that. The rest is restored
// after it ran in a sandbox: it can define hooks and servers, which the program would later start outside.
type State struct {
	// Folders are its folders, each with path.Match patterns of what may change there:
	// logins and sessions.
	Folders map[string][]string
	// Files are its JSON files, each with the fields that may change, as dotted paths of
	// patterns.
	Files map[string][]string
	Temp  []string // temporary folders, some with code: empty in the sandbox where it has mounts
	Env   []string // additional variables in the sandbox
	Makes []string // patterns of files that it creates by itself; restoring them is not reported
}

// Paths returns its folders, and the files outside of them.
func (s State) Paths() []string {
	paths := slices.Sorted(maps.Keys(s.Folders))
	for _, file := range slices.Sorted(maps.Keys(s.Files)) {
		if !slices.ContainsFunc(paths, func(dir string) bool { return strings.HasPrefix(file, dir+"/") }) {
			paths = append(paths, file)
		}
	}
	return paths
}

// hookEvents are the events for which Claude Code calls ralph in ralph's own loop.
var hookEvents = []struct {
	event, word string // Claude Code's name, and that of `ralph hook`
	matcher     string // tools; empty: all, or the event has no tools
	seconds     int
}{
	{"SessionStart", "session-start", "", 10},
	{"PreToolUse", "pre-tool-use", "Bash|Monitor|Write|Edit|MultiEdit|NotebookEdit", 10},
	{"PostToolUse", "post-tool-use", ".*", 10},
	{"Stop", "stop", "", 660},
}

func hookSettings(self string) string {
	hooks := map[string]any{}
	for _, m := range hookEvents {
		group := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": shell.Quote(self) + " hook " + m.word, "timeout": m.seconds}}}
		if m.matcher != "" {
			group["matcher"] = m.matcher
		}
		hooks[m.event] = []any{group}
	}
	text, _ := json.Marshal(map[string]any{"hooks": hooks}) // strings and numbers have no error
	return string(text)
}

// CheckAutoRuns refuses files of the repository that the program would run without asking.
func (a Adapter) CheckAutoRuns(dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		for _, name := range a.AutoRuns {
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

package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

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
		hook := map[string]any{
			"type":    "command",
			"command": shell.Quote(self) + " hook " + m.word,
			"timeout": m.seconds,
		}
		group := map[string]any{"hooks": []any{hook}}
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
			path := filepath.Join(dir, filepath.FromSlash(name))
			if _, err := os.Lstat(path); err == nil {
				return fault.Usage(
					fmt.Sprintf("%s would run files in %s, and no sandbox prevents it", a.Name, path),
					"remove them, choose another agent, or use a sandbox: --sandbox", nil)
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

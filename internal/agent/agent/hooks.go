package agent

import (
	"encoding/json"

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

package agent

import (
	"encoding/json"

	"mvdan.cc/sh/v3/syntax"
)

// moment is when an agent's program calls ralph in the midst of its work.
type moment struct {
	event   string // as the program calls it
	word    string // as `ralph hook` does
	matcher string // the tools it is for; empty: all of them, or none
	seconds int
}

// moments are those that matter while ralph's own loop is at work: the guard
// against accidents, how full the context is, and a last look before the end.
var moments = []moment{
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

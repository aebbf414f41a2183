package view_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

// The comment has only a box that fits the state of the run, and none if boxes are
// switched off.
func TestButtons(t *testing.T) {
	const on = `{"type":"run_began","policy":{"buttons":true}}` + "\n"
	for name, c := range map[string]struct{ journal, want string }{
		"switched off":       {"", ""},
		"under way":          {on, "stop"},
		"to be approved":     {`{"type":"run_began","policy":{"buttons":true,"approval":true}}` + "\n" + `{"type":"run_stopped","reason":"needs_input"}`, "approve"},
		"stopped short":      {on + `{"type":"run_stopped","reason":"max_iterations"}`, "resume"},
		"a question is open": {on + `{"type":"run_stopped","reason":"needs_input","why":"Which?"}`, ""},
		"done":               {on + `{"type":"run_stopped","reason":"all_stories_passed"}`, ""},
	} {
		comment := view.Of(boxed(t, c.journal)).Comment
		got := ""
		if _, after, is := strings.Cut(comment, "- [ ] <!-- ralph:button "); is {
			got, _, _ = strings.Cut(after, " ")
		}
		if got != c.want || strings.Count(comment, "ralph:button") > 1 {
			t.Errorf("%s: the button is %q, want %q:\n%s", name, got, c.want, comment)
		}
	}
}

func boxed(t *testing.T, lines string) journal.Run {
	t.Helper()
	return journaltest.Run(t, []byte(lines))
}

package view_test

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// Every file in testdata has a journal and all texts about it.
func TestStories(t *testing.T) {
	journaltest.Stories(t, *update, func(t *testing.T, s journaltest.Story) []txtar.File {
		t.Helper()
		board := view.Of(s.Run)
		if board.Run != s.Run.ID {
			t.Errorf("the texts of %s are for %q", s.Run.ID, board.Run)
		}
		deserved := slices.ContainsFunc(s.Run.Plan.UserStories, func(story plan.Story) bool { return verdict.IsStoryProven(s.Run, story) })
		if text := board.Comment + board.Pull.Body + view.Text(s.Run, false); strings.Contains(strings.ToLower(text), "proven") && !deserved {
			t.Errorf("the word proven is not deserved:\n%s", text)
		}
		return []txtar.File{
			{Name: "comment.md", Data: []byte(board.Comment)},
			{Name: "pull.md", Data: []byte("# " + board.Pull.Title + "\n\n" + board.Pull.Body)},
			{Name: "log", Data: []byte(logLines(s.Entries))},
		}
	})
}

// logLines returns the log of a journal.
func logLines(entries []journal.Entry) string {
	var text strings.Builder
	var run journal.Run
	for _, entry := range entries {
		run = journal.Fold(run, entry)
		if line := view.Line(run, entry.Event); line != "" {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

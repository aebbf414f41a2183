package github

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
)

// laundry cleans one text after the other and counts what it took out.
type laundry struct{ removed clean.Removed }

func (l *laundry) clean(text string, most int) string {
	text, removed := clean.Inward(text, most)
	l.removed = l.removed.Add(removed)
	return text
}

// line is clean for what GitHub shows as it stands, and not as Markdown.
func (l *laundry) line(text string, most int) string {
	text, removed := clean.Plain(text, most)
	l.removed = l.removed.Add(removed)
	return text
}

// code is the end of a text whose every byte counts, as of a diff or a log.
func code(text string, most int) string {
	runes := []rune(strings.ToValidUTF8(text, ""))
	fenced := clean.Fence(string(runes[max(0, len(runes)-most):]))
	lines := strings.Split(fenced, "\n")
	return strings.Join(lines[1:len(lines)-1], "\n")
}

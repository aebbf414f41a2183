package report

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/show/view"
)

var colourSequence = pattern.Of(`\x1b\[[0-9;]*m`)

type excerpt struct {
	Text string
	Left string // a text about the part that is left out
}

func (s Source) firstPart(text string, limit int) excerpt {
	runes := s.readable(text)
	if left := len(runes) - limit; left > 0 {
		return excerpt{string(runes[:limit]), view.Plural(left, "more character") + " left out"}
	}
	return excerpt{Text: string(runes)}
}

func (s Source) lastPart(text string, limit int) excerpt {
	runes := s.readable(text)
	if left := len(runes) - limit; left > 0 {
		return excerpt{string(runes[left:]), view.Plural(left, "character") + " before this left out"}
	}
	return excerpt{Text: string(runes)}
}

// readable returns foreign text without colours, and then without secrets: a colour may have parted one.
func (s Source) readable(text string) []rune {
	text = colourSequence.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
	return []rune(strings.Trim(s.Hide(text), "\n"))
}

// firstFew returns the first lines, and how many more there are.
func firstFew(lines []string) (shown []string, more int) {
	const few = 20
	return lines[:min(len(lines), few)], max(len(lines)-few, 0)
}

// line returns foreign text as one line without secrets.
func (s Source) line(text string, limit int) string {
	line := []rune(strings.Join(strings.Fields(s.Hide(text)), " "))
	limit = min(limit, s.limit)
	if len(line) > limit {
		return string(line[:limit-1]) + "…"
	}
	return string(line)
}

func (s Source) lines(texts []string) []string {
	all := make([]string, 0, len(texts))
	for _, text := range texts {
		all = append(all, s.line(text, 400))
	}
	return all
}

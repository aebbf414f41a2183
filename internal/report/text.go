package report

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/view"
)

var colourSequence = pattern.Of(`\x1b\[[0-9;]*m`)

type excerpt struct {
	Text string
	Left string // a text about the part that is left out
}

func firstPart(text string, limit int) excerpt {
	runes := readable(text)
	if left := len(runes) - limit; left > 0 {
		return excerpt{string(runes[:limit]), view.Plural(left, "more character") + " left out"}
	}
	return excerpt{Text: string(runes)}
}

func lastPart(text string, limit int) excerpt {
	runes := readable(text)
	if left := len(runes) - limit; left > 0 {
		return excerpt{string(runes[left:]), view.Plural(left, "character") + " before this left out"}
	}
	return excerpt{Text: string(runes)}
}

func readable(text string) []rune {
	text = colourSequence.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "")
	return []rune(strings.Trim(text, "\n"))
}

// firstFew returns the first lines, and how many more there are.
func firstFew(lines []string) (shown []string, more int) {
	const few = 20
	return lines[:min(len(lines), few)], max(len(lines)-few, 0)
}

// line returns foreign text as one line without secrets.
func (s Source) line(text string, limit int) string {
	line, limit := []rune(strings.Join(strings.Fields(s.hide(text)), " ")), min(limit, s.limit)
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

package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxShown is how many problems an error lists: more are no help.
const maxShown = 20

// Problem is one thing that is wrong with a plan, and where.
type Problem struct {
	Line, Column int    // 0 where it has none
	Path         string // userStories[2].priority
	Story        string // the id of the story, where it has one
	Text         string // what was found and what is wanted
}

// Invalid is all that is wrong with one plan.
type Invalid struct {
	Name     string // the file, or the issue
	Problems []Problem

	prose bool // Name is words, not a path
}

// Error lists the problems, one a line. The first line stands alone.
func (e *Invalid) Error() string {
	if len(e.Problems) == 1 {
		return e.line(e.Problems[0])
	}
	lines := []string{fmt.Sprintf("%s is no valid plan: %d problems", e.Name, len(e.Problems))}
	for i, p := range e.Problems {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Problems)-maxShown))
			break
		}
		lines = append(lines, e.line(p))
	}
	return strings.Join(lines, "\n")
}

func (e *Invalid) line(p Problem) string {
	parts := []string{e.where(p), p.Path, p.Text}
	switch {
	case p.Story != "" && p.Path != "":
		parts[1] = fmt.Sprintf("%s (%s)", p.Path, clip(p.Story, maxFound))
	case p.Story != "":
		parts[1] = clip(p.Story, maxFound)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	return oneLine(strings.Join(parts, ": "))
}

func (e *Invalid) where(p Problem) string {
	switch {
	case p.Line == 0:
		return e.Name
	case e.prose:
		return fmt.Sprintf("%s, line %d", e.Name, p.Line)
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", e.Name, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", e.Name, p.Line, p.Column)
	}
}

// orNil is the error, if there is anything to say.
func (e *Invalid) orNil() error {
	if len(e.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(e.Problems, func(a, b Problem) int { return a.Line - b.Line })
	return e
}

// maxFound is how much of a wrong value is quoted.
const maxFound = 60

// clip cuts a text to n runes, the last of them dots where it was longer.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:n-1])) + "…"
}

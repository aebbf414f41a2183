package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ralph-loop/ralph/internal/fault"
)

// problem is one thing that is wrong with a file, and where.
type problem struct {
	at         place
	path, text string
}

func (p problem) String() string {
	parts := []string{p.at.String(), clip(p.path), mask(p.text)}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	line := strings.ReplaceAll(strings.Join(parts, ": "), "\t", `\t`)
	return strings.Join(strings.FieldsFunc(line, unicode.IsControl), " ")
}

func (d *decoder) complain(s spot, format string, args ...any) {
	d.problems = append(d.problems, problem{at: s.at, path: s.path, text: fmt.Sprintf(format, args...)})
}

// maxProblems is far more than anybody mends at once.
const maxProblems = 100

// fault is all that is wrong, one problem a line, in the order of the files
// and their lines.
func (d *decoder) fault() error {
	if len(d.problems) == 0 {
		return nil
	}
	var files, lines []string
	for _, p := range d.problems {
		if !slices.Contains(files, p.at.file) {
			files = append(files, p.at.file)
		}
	}
	slices.SortStableFunc(d.problems, func(a, b problem) int {
		if a.at.file != b.at.file {
			return slices.Index(files, a.at.file) - slices.Index(files, b.at.file)
		}
		return a.at.line - b.at.line
	})
	for _, p := range d.problems[:min(len(d.problems), maxProblems)] {
		lines = append(lines, p.String())
	}
	if more := len(d.problems) - maxProblems; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	if len(lines) > 1 {
		lines = slices.Insert(lines, 0, fmt.Sprintf("%s cannot be used: %d problems", strings.Join(files, " and "), len(d.problems)))
	}
	return fault.Usage(strings.Join(lines, "\n"), "mend "+strings.Join(files, " and ")+"; a key that is taken out has its default", nil)
}

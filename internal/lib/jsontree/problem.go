package jsontree

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Problem is what is wrong with a file. Line and Column are 0 where it has none.
type Problem struct {
	File         string
	Line, Column int
	Path         string // of the value, if it is one
	Text         string
}

// String returns the problem on one line.
func (p Problem) String() string {
	parts := []string{p.File, p.Path, p.Text}
	if p.Line > 0 {
		parts[0] += fmt.Sprintf(":%d", p.Line)
	}
	if p.Column > 0 {
		parts[0] += fmt.Sprintf(":%d", p.Column)
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	line := strings.ReplaceAll(strings.Join(parts, ": "), "\t", `\t`)
	return strings.Join(strings.FieldsFunc(line, unicode.IsControl), " ")
}

// Describe lists problems by file and line, at most so many, below what they come to if they are several.
func Describe(problems []Problem, most int, what string) string {
	var files, lines []string
	for _, p := range problems {
		if !slices.Contains(files, p.File) {
			files = append(files, p.File)
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(slices.Index(files, a.File)-slices.Index(files, b.File), a.Line-b.Line)
	})
	if len(problems) > 1 {
		lines = []string{fmt.Sprintf("%s: %d problems", what, len(problems))}
	}
	for _, p := range problems[:min(len(problems), most)] {
		lines = append(lines, p.String())
	}
	if more := len(problems) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

package tamper

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a way to make checks say less. The set is closed; docs/TAMPER.md
// has it with examples.
type Kind string

// The kinds.
const (
	TestDeleted       Kind = "test_deleted"
	TestSkipped       Kind = "test_skipped"
	AssertionRemoved  Kind = "assertion_removed"
	AssertionWeakened Kind = "assertion_weakened"
	ExpectedChanged   Kind = "expected_changed"
	SnapshotRewritten Kind = "snapshot_rewritten"
	LintLoosened      Kind = "lint_loosened"
	CoverageLowered   Kind = "coverage_lowered"
	CILoosened        Kind = "ci_loosened"
	CheckChanged      Kind = "check_changed"
)

// Kinds lists them all.
func Kinds() []Kind {
	return []Kind{
		TestDeleted, TestSkipped, AssertionRemoved, AssertionWeakened, ExpectedChanged,
		SnapshotRewritten, LintLoosened, CoverageLowered, CILoosened, CheckChanged,
	}
}

// Finding is one thing to look at.
type Finding struct {
	File  string `json:"file"`
	Kind  Kind   `json:"kind"`
	Lines []Line `json:"lines"`
	Why   string `json:"why"`
}

// Line is a line of the diff. As text it is "-12: assert total == 3".
type Line struct {
	Added  bool // else it was removed
	Number int  // in the file that has it, from 1
	Text   string
}

// MarshalText gives sign, number and text.
func (l Line) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// String gives sign, number and text.
func (l Line) String() string {
	sign := "-"
	if l.Added {
		sign = "+"
	}
	return fmt.Sprintf("%s%d: %s", sign, l.Number, l.Text)
}

func (f Finding) first() int {
	if len(f.Lines) == 0 {
		return 0
	}
	return f.Lines[0].Number
}

const (
	maxLines = 12
	maxWidth = 200
	maxName  = 120
)

// short makes foreign text fit into a why or a line.
func short(text string, limit int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	for i := range text {
		if i >= limit {
			return text[:i] + "…"
		}
	}
	return text
}

// pick gives the lines of a text that have these numbers.
func pick(text []byte, added bool, numbers ...int) []Line {
	all := strings.Split(string(text), "\n")
	slices.Sort(numbers)
	var lines []Line
	for _, n := range slices.Compact(numbers) {
		if n >= 1 && n <= len(all) && strings.TrimSpace(all[n-1]) != "" && len(lines) < maxLines {
			lines = append(lines, Line{added, n, short(all[n-1], maxWidth)})
		}
	}
	return lines
}

// span are the numbers from first to last, as many as are shown.
func span(first, last int) []int {
	var numbers []int
	for n := first; n <= last && len(numbers) < maxLines; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// gone and came are the lines of a change that only one side has, wherever
// they stood: a line that moved is in neither.
func (c Change) gone() []Line { return lost(c.Before, c.After, false) }
func (c Change) came() []Line { return lost(c.After, c.Before, true) }

func lost(here, there []byte, added bool) []Line {
	count := map[string]int{}
	for line := range strings.Lines(string(there)) {
		count[strings.TrimSpace(line)]++
	}
	var lines []Line
	n := 0
	for line := range strings.Lines(string(here)) {
		n++
		line = strings.TrimSpace(line)
		if count[line]--; count[line] < 0 && line != "" {
			lines = append(lines, Line{added, n, line})
		}
	}
	return lines
}

// trim bounds lines for a finding.
func trim(lines []Line) []Line {
	lines = slices.Clone(lines[:min(len(lines), maxLines)])
	for i := range lines {
		lines[i].Text = short(lines[i].Text, maxWidth)
	}
	return lines
}

// differing are the lines of a change that hold one of the words, or all of
// them where none does.
func (c Change) differing(words ...string) []Line {
	all := append(c.gone(), c.came()...)
	var lines []Line
	for _, line := range all {
		if slices.ContainsFunc(words, func(w string) bool { return w != "" && strings.Contains(line.Text, w) }) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		lines = all
	}
	return trim(lines)
}

package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

// inspected is Line's word on what a change does to tests and checks.
func inspected(e journal.ChangeInspected) string {
	var lines []string
	if e.Why != "" {
		lines = append(lines, "  nobody could tell whether tests and checks say less: "+one(e.Why))
	}
	shown := e.Found[:min(len(e.Found), most)]
	for _, place := range shown {
		lines = append(lines, "  says less than it did: "+one(place.String()))
	}
	if left := len(e.Found) - len(shown) + e.More; left > 0 {
		lines = append(lines, fmt.Sprintf("  … and %d more places", left))
	}
	return strings.Join(lines, "\n")
}

// inspected has a row for each place.
func (l Look) inspected(e journal.ChangeInspected) []row {
	var rows []row
	for line := range strings.Lines(inspected(e)) {
		rows = append(rows, l.say("  "+warnSign+" ", l.ours(strings.TrimSpace(line)), plain)...)
	}
	return rows
}

// less is where the newest commit makes tests and checks say less, as a page has
// it.
type less struct {
	Places []place
	More   int
	Why    string // nobody could look
}

// place is one of them, with lines of the diff.
type place struct {
	File  string
	Why   string
	Lines []string
}

// loosened is what an inspection of the newest commit found; nil: nothing, or
// nobody has looked.
func loosened(run journal.Run) *less {
	found, is := run.InspectionOf(run.Tree)
	if !is || found.Why == "" && len(found.Found) == 0 {
		return nil
	}
	shown := found.Found[:min(len(found.Found), most)]
	said := &less{Why: clean.Inline(found.Why, 300), More: len(found.Found) - len(shown) + found.More}
	for _, loose := range shown {
		told := place{File: Code(loose.File, 200), Why: clean.Inline(loose.Why, 300)}
		for _, line := range loose.Lines {
			told.Lines = append(told.Lines, Code(line, 200))
		}
		said.Places = append(said.Places, told)
	}
	return said
}

// unsettled is why a person has to look before anything here is called what it
// may be; empty: nobody has to.
func unsettled(run journal.Run) string {
	found, is := loosened(run), run.Unsettled() != ""
	switch {
	case !is:
		return ""
	case found == nil:
		return "tests or checks say less than they did"
	case len(found.Places) == 0:
		return "nobody could tell whether tests and checks say less than they did"
	}
	var files []string
	for _, place := range found.Places {
		if !slices.Contains(files, place.File) {
			files = append(files, place.File)
		}
	}
	return "tests or checks say less than they did, look at " + strings.Join(files[:min(len(files), 5)], ", ") + others(len(files)-5)
}

// others tells how many more there are, if any.
func others(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// Count is how many places there are.
func (l less) Count() int { return len(l.Places) + l.More }

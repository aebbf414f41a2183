package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// inspected is what the existing tests say of a change: a line for each file.
func inspected(e journal.ChangeInspected) (said []saying) {
	if e.Why != "" {
		said = append(said, within(warnSign, untried+": "+one(e.Why)))
	}
	shown := e.Found[:min(len(e.Found), most)]
	for _, place := range shown {
		said = append(said, within(warnSign, one(place.String())))
	}
	if left := len(e.Found) - len(shown) + e.More; left > 0 {
		said = append(said, within(warnSign, fmt.Sprintf("… and %d more files", left)))
	}
	return said
}

// existingTests is what they say of the newest commit, as a page has it.
type existingTests struct {
	Places  []place  // that hold the work back
	More    int      // how many besides
	Changed []string // that were changed, and hide nothing
	Why     string   // they could not be run
}

// place is a file of tests, with lines of the diff.
type place struct {
	File  string
	Why   string
	Lines []string
}

// existing is what the existing tests say of the newest commit; nil: none was
// touched, or they have not been asked.
func existing(run journal.Run) *existingTests {
	found, is := run.InspectionOf(run.Tree)
	if !is || found.Why == "" && len(found.Found) == 0 && len(found.Shown) == 0 {
		return nil
	}
	shown := found.Found[:min(len(found.Found), most)]
	said := &existingTests{Why: clean.Inline(found.Why, 300), More: len(found.Found) - len(shown) + found.More}
	for _, loose := range shown {
		told := place{File: Code(loose.File, 200), Why: clean.Inline(loose.Why, 300)}
		for _, line := range loose.Lines {
			told.Lines = append(told.Lines, Code(line, 200))
		}
		said.Places = append(said.Places, told)
	}
	for _, changed := range found.Shown {
		said.Changed = append(said.Changed, Code(changed.File, 200)+": "+clean.Inline(changed.Why, 300))
	}
	said.Changed = few(said.Changed)
	return said
}

const (
	untried = "the existing tests could not be run on the new code"
	failing = "existing tests fail or no longer run"
)

// unsettled is why a person has to look before a story is called proven; empty:
// there is no reason.
func unsettled(run journal.Run) string {
	found, is := existing(run), verdict.Unsettled(run) != ""
	switch {
	case !is:
		return ""
	case found == nil:
		return failing
	case len(found.Places) == 0:
		return untried
	}
	var files []string
	for _, place := range found.Places {
		if !slices.Contains(files, place.File) {
			files = append(files, place.File)
		}
	}
	return failing + ": look at " + strings.Join(files[:min(len(files), 5)], ", ") + others(len(files)-5)
}

// others tells how many more there are, if any.
func others(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// Count is how many files hold the work back.
func (e existingTests) Count() int { return len(e.Places) + e.More }

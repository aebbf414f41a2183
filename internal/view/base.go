package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view/ending"
)

// cannotStartHint says, once, what to do about a check that cannot start, without a base.
func cannotStartHint(run journal.Run, check journal.CheckEnded) string {
	if run.Baseline != nil || check.Where != journal.AtWork || !ending.CannotStart(check) {
		return ""
	}
	before := 0
	for _, it := range run.Iterations {
		for _, other := range it.Checks {
			if other.Name == check.Name && ending.CannotStart(other) {
				before++
			}
		}
	}
	if before > 1 {
		return ""
	}
	return " – " + ending.ToStart(run)
}

// checksThatCannotStart lists the checks that could not start, without a base, and what to do.
func checksThatCannotStart(run journal.Run) string {
	var names []string
	if it, found := run.LastJudged(); found {
		for _, check := range it.Checks {
			if check.Where == journal.AtWork && ending.CannotStart(check) {
				names = append(names, fmt.Sprintf("%s cannot run here (exit %d)", Code(check.Name, 80), check.Exit))
			}
		}
	}
	if names == nil {
		return ""
	}
	return strings.Join(firstFew(names), ", ") + ". To change that: " + ending.ToStart(run) + "."
}

package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Text is a run for a terminal: the comment's words without its markup.
func Text(run journal.Run) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", run.ID, one(headline(run)))
	for _, s := range stories(run) {
		mark := " "
		switch {
		case s.Passes:
			mark = "x"
		case s.Active:
			mark = ">"
		}
		fmt.Fprintf(&text, "[%s] %s %s%s\n", mark, one(s.ID), one(s.Title), strings.TrimSuffix(" "+s.Worth, " –"))
	}
	fmt.Fprintf(&text, "%s in %s, cost %s\n", plural(len(run.Iterations), "iteration"), policy.Short(run.Now.Sub(run.Began)), money(run.CostUSD, run.CostKnown))
	for _, said := range heard(run) {
		fmt.Fprintf(&text, "! %s\n", one(said))
	}
	if todo := next(run); todo != "" {
		fmt.Fprintf(&text, "next: %s\n", todo)
	}
	return text.String()
}

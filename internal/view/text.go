package view

import (
	"fmt"
	"html"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Text is a run for a terminal: the comment's words without its markup.
func Text(run journal.Run) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", run.ID, spoken(headline(run)))
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
		fmt.Fprintf(&text, "! %s\n", spoken(said))
	}
	if todo := next(run); todo != "" {
		fmt.Fprintf(&text, "next: %s\n", spoken(todo))
	}
	return text.String()
}

// spoken is a page's words as a terminal has them: without what keeps a page
// from reading them as markup.
func spoken(text string) string {
	return html.UnescapeString(markup.Replace(escaped.ReplaceAllString(one(text), "$1")))
}

var (
	escaped = pattern.Of(`\\([[:punct:]])`)
	markup  = strings.NewReplacer("<code>", "`", "</code>", "`", "**", "")
)

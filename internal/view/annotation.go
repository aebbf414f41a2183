package view

import (
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view/ending"
)

// Annotation is a message that GitHub shows at a job.
type Annotation struct {
	Title  string
	Text   string
	Notice bool // not an error
}

const maxAnnotations = 10

// Annotations returns an annotation for the end of a run that did not succeed, and for each failed check of the last
// verdict. Title and Text contain foreign text.
func Annotations(run journal.Run) []Annotation {
	var all []Annotation
	if e := ending.Of(run); e.Cause != nil {
		all = append(all, Annotation{
			Title:  "ralph " + string(run.Stop.Reason.Status()),
			Text:   strings.TrimSuffix(WithoutMarkup(Headline(run)), ".") + appendNonEmpty("", ". Next: ", WithoutMarkup(Next(run))),
			Notice: run.IsCompleted() || e.Cause == ending.Unapproved || e.Cause == ending.Cancelled,
		})
	}
	last, found := run.LastJudged()
	if !found || run.IsCompleted() {
		return all
	}
	checks := last.Checks
	if last.Proof != nil {
		checks = last.Proof.Checks
	}
	for _, check := range checks {
		if check.Where == journal.AtTests || !verdict.BlocksStory(run, check) || len(all) == maxAnnotations {
			continue
		}
		all = append(all, Annotation{Title: oneLine(check.Name) + " failed", Text: singleLine(run, check).text})
	}
	return all
}

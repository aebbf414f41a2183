package view

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view/ending"
)

// Annotation is a message that GitHub shows at a job, or at a line if File is set.
type Annotation struct {
	File  string // in the repository; empty if unknown
	Line  int
	Title string
	Text  string

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
		a := Annotation{Title: oneLine(check.Name) + " failed", Text: singleLine(run, check).text}
		a.File, a.Line = firstPosition(check.Excerpt)
		all = append(all, a)
	}
	return all
}

// filePosition matches a line of a file as compilers and test runners print it.
var filePosition = pattern.Of(`(?m)^[ \t]*(?:\./)?([A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z0-9]+):([0-9]{1,7})\b`)

// firstPosition returns the first line of a project file in an output, or an empty file.
func firstPosition(output string) (file string, line int) {
	for _, found := range filePosition.FindAllStringSubmatch(output, maxAnnotations) {
		number, err := strconv.Atoi(found[2])
		if err == nil && number > 0 && !slices.Contains(strings.Split(found[1], "/"), "..") {
			return path.Clean(found[1]), number
		}
	}
	return "", 0
}

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

// Annotation is what a forge shows beside a job, and at a line of a file where
// one is to blame.
type Annotation struct {
	File  string // in the repository; empty if unknown
	Line  int
	Title string
	Text  string

	Notice bool // it is news, and no error
}

// mostAnnotations is how many of a step GitHub shows.
const mostAnnotations = 10

// Annotations are how run ended and what to do next, unless it did what was asked,
// and the checks that the last verdict found to fail. Others wrote parts of all of it.
func Annotations(run journal.Run) []Annotation {
	var all []Annotation
	if e := ending.Of(run); e.Cause != "" {
		all = append(all, Annotation{
			Title:  "ralph " + string(run.Stop.Reason.Status()),
			Text:   strings.TrimSuffix(spoken(Headline(run)), ".") + behind("", ". Next: ", spoken(Next(run))),
			Notice: run.Completed() || e.Cause == ending.Unapproved || e.Cause == ending.Cancelled,
		})
	}
	last, found := run.Last()
	if !found || run.Completed() {
		return all
	}
	checks := last.Checks
	if last.Proof != nil {
		checks = last.Proof.Checks
	}
	for _, check := range checks {
		if check.Where == journal.AtTests || !verdict.BlocksStory(run, check) || len(all) == mostAnnotations {
			continue
		}
		all = append(all, annotated(run, check))
	}
	return all
}

func annotated(run journal.Run, check journal.CheckEnded) Annotation {
	a := Annotation{Title: one(check.Name) + " failed", Text: words(run, check)}
	a.File, a.Line = blame(check.Excerpt)
	return a
}

// placed is how compilers and test runners name a line of a file.
var placed = pattern.Of(`(?m)^[ \t]*(?:\./)?([A-Za-z0-9_][A-Za-z0-9_./-]*\.[A-Za-z0-9]+):([0-9]{1,7})\b`)

// blame is the first line of a file of the project that an output names; nothing
// where it names none.
func blame(output string) (file string, line int) {
	for _, found := range placed.FindAllStringSubmatch(output, mostAnnotations) {
		number, err := strconv.Atoi(found[2])
		if err == nil && number > 0 && !slices.Contains(strings.Split(found[1], "/"), "..") {
			return path.Clean(found[1]), number
		}
	}
	return "", 0
}

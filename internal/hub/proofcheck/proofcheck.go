// Package proofcheck makes the check ralph/proof of a pull request from the outcome of its proof. The outcome may come
// from a job that ran a stranger's code: its texts are cleaned, and it does not decide which commit gets the check.
package proofcheck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// The conclusions of the check. For GitHub neutral satisfies a required check, so it is
// only for changes without anything to prove.
const (
	success = "success"
	neutral = "neutral"
	failure = "failure"
)

// Handed is the file from the job that proves to the job that publishes.
type Handed struct {
	Pull    int              `json:"pull"`
	Outcome checkout.Outcome `json:"outcome"`
}

const largest = 4 << 20

// Read reads this file. Its fields are as the other job wrote them.
func Read(data []byte) (h Handed, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&h); err != nil {
		return h, fmt.Errorf("read the outcome of the proof: %w", err)
	}
	if h.Pull <= 0 || !slices.Contains(known, h.Outcome.Result) {
		return h, errors.New("it is not the outcome of a proof")
	}
	return h, nil
}

var known = []journal.Result{
	journal.Proven, journal.NoNewFailingTest, journal.DocumentsOnly, journal.TestsOnly,
	journal.NeedsReview, journal.Failed, journal.Unknown,
}

// Claim returns what a pull request is for: the stories of an issue, or of a task list.
func Claim(task plan.Task) []plan.Story {
	claim, source, err := plan.Draft(task)
	if err != nil || source == plan.SourcePlain {
		return nil
	}
	return claim.UserStories
}

// Facts are the input of a check.
type Facts struct {
	Outcome checkout.Outcome
	Head    string                // the commit that the check is put on
	Claim   []plan.Story          // what the pull request is for
	From    string                // where the claim is written, as "#7"; empty: there is none
	Line    func(file string) int // the first touched line of a file, or 0
}

// Check returns the check, and whether a person must act before it can become green.
func Check(f Facts) (check github.NewCheck, person bool) {
	o := f.Outcome
	check = github.NewCheck{Name: github.ProofCheck, Head: f.Head, Conclusion: failure}
	check.Title = o.Result.Text() + ": " + o.Why
	switch o.Result {
	case journal.Proven:
		check.Conclusion = success
		check.Title = "Proven: " + cmp.Or(counted(o), o.Why)
	case journal.DocumentsOnly, journal.TestsOnly:
		check.Conclusion = neutral
	case journal.NeedsReview, journal.Unknown:
		person = true
	case journal.NoNewFailingTest, journal.Failed:
	}
	check.Title, _ = clean.Plain(check.Title, maxTitle)
	check.Notes = notes(f)
	check.Summary = summary(f)
	return check, person
}

// refused returns the check of a proof that cannot be published.
func refused(head, why string) github.NewCheck {
	title, _ := clean.Plain("Not published: "+why, maxTitle)
	return github.NewCheck{
		Name:       github.ProofCheck,
		Head:       head,
		Conclusion: failure,
		Title:      title,
		Summary:    clean.Inline(why, 0) + ".\n",
	}
}

const (
	maxTitle = 200
	maxNotes = 50 // GitHub's limit for a request
	// GitHub's limit is 65,535 characters.
	maxSummary = 60_000
)

func counted(o checkout.Outcome) string {
	switch {
	case len(o.Tests) == 1:
		return "1 test fails on the base and passes with the change"
	case len(o.Tests) > 1:
		return fmt.Sprintf("%d tests fail on the base and pass with the change", len(o.Tests))
	case len(o.Files) > 0:
		return "the new tests fail on the base and pass with the change"
	}
	return ""
}

func notes(f Facts) (notes []github.Note) {
	add := func(file, says string) {
		if line := f.Line(file); line > 0 && len(notes) < maxNotes {
			says, _ = clean.Plain(says, maxTitle)
			notes = append(notes, github.Note{Path: file, Line: line, Message: says})
		}
	}
	for _, place := range f.Outcome.Look {
		add(place.File, place.Why)
	}
	for _, file := range f.Outcome.Restored {
		add(file, "This file is protected. The proof ran with the version of the base.")
	}
	for _, place := range f.Outcome.Untested {
		if len(notes) < maxNotes {
			note := github.Note{Path: place.File, Line: place.From, Message: "No test needs this."}
			notes = append(notes, note)
		}
	}
	return notes
}

func summary(f Facts) string {
	text := view.CheckSummary(f.Outcome, f.Claim, f.From, maxSummary)
	if len(text) > maxSummary {
		text = text[:strings.LastIndexByte(text[:maxSummary], '\n')+1] + "\n… and more\n"
	}
	return text
}

const maxPatch = 1 << 20 // limits the patch of a file in which the first change is found

func lines(ctx context.Context, code *git.Trusted, o checkout.Outcome) func(string) int {
	files := slices.Clone(o.Restored)
	for _, place := range o.Look {
		files = append(files, place.File)
	}
	found := map[string]int{}
	for _, file := range files[:min(len(files), maxNotes)] {
		patch, _, err := code.Diff(ctx, git.Span{From: o.Base, To: o.Head}, maxPatch, file)
		if err == nil {
			found[file] = firstChange(patch)
		}
	}
	return func(file string) int { return found[file] }
}

var hunk = pattern.Of(`(?m)^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// firstChange returns the first touched line of the new file, or 0 if the file was removed.
func firstChange(patch string) int {
	at := hunk.FindStringSubmatch(patch)
	if at == nil {
		return 0
	}
	line, err := strconv.Atoi(at[1])
	if err != nil {
		return 0
	}
	_, body, _ := strings.Cut(patch, at[0])
	_, body, _ = strings.Cut(body, "\n")
	for text := range strings.Lines(body) {
		if !strings.HasPrefix(text, " ") {
			break
		}
		line++
	}
	return line
}

// Package proofcheck makes the check ralph/proof of a pull request from the outcome of
// its proof. The outcome may come from a job that ran a stranger's code: its texts are
// cleaned, and it does not decide which commit gets the check.
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
	"sync"
	"text/template"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/templates"
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

// Criterion is a claim of the pull request.
type Criterion struct {
	Text   string
	Tested string // the test that it names, if any
}

// Claim holds the claims of a pull request: an issue's criteria, or a task list.
func Claim(task plan.Task) (claim []Criterion) {
	stories, source, err := plan.Draft(task)
	if err != nil || source == plan.SourcePlain {
		return nil
	}
	for _, story := range stories.UserStories {
		if len(story.AcceptanceCriteria) == 0 {
			claim = append(claim, Criterion{Text: story.Title})
		}
		for i, text := range story.AcceptanceCriteria {
			c := Criterion{Text: text}
			if i < len(story.TestedBy) {
				c.Tested = story.TestedBy[i]
			}
			claim = append(claim, c)
		}
	}
	return claim
}

// Facts are the input of a check.
type Facts struct {
	Outcome checkout.Outcome
	Head    string                // the commit that the check is put on
	Claim   []Criterion           // of the pull request
	From    string                // where the claim stands, as "#7"; empty: there is none
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
	check.Summary = draw(f)
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
	maxShown = 50 // rows of a list
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

func draw(f Facts) string {
	var text strings.Builder
	data := struct {
		Facts
		checkout.Outcome
	}{f, f.Outcome}
	if err := summary().Execute(&text, data); err != nil {
		return "The summary could not be written.\n"
	}
	drawn := strings.TrimSpace(text.String()) + "\n"
	if len(drawn) > maxSummary {
		drawn = drawn[:strings.LastIndexByte(drawn[:maxSummary], '\n')+1] + "\n… and more\n"
	}
	return drawn
}

var summary = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("proof.md").Funcs(template.FuncMap{
		"code":  func(s string) string { return view.Code(s, maxTitle) },
		"cell":  func(s string) string { return clean.Inline(s, maxTitle) },
		"few":   func(n int) int { return min(n, maxShown) },
		"more":  func(n int) int { return max(n-maxShown, 0) },
		"short": func(sha string) string { return fmt.Sprintf("%.12s", sha) },
		"brought": func(o checkout.Outcome) []string {
			if len(o.Tests) > 0 {
				return o.Tests
			}
			return o.Files
		},
		"shown": func(f Facts, c Criterion) bool {
			if c.Tested == "" || f.Outcome.Result != journal.Proven {
				return false
			}
			return slices.Contains(f.Outcome.Tests, c.Tested)
		},
		"ended":    checkout.Ended,
		"failure":  journal.HowNewTestsFail,
		"untested": func(o checkout.Outcome) string { return journal.UntestedText(o.Untested, o.Tried) },
		"proven":   func(o checkout.Outcome) bool { return o.Result == journal.Proven },
	}).ParseFS(templates.Files, "pull/proof.md"))
})

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

package checkout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// The grades of a change. Others are those of a story.
const (
	Proven    = "proven"     // a test fails on the base code and passes with the change
	NotProven = "not proven" // a check fails
	Held      = "held"       // a person has to review it first
	Untold    = "cannot be told"
)

// Outcome is the result of the proof of a change.
type Outcome struct {
	Base     string             `json:"base"`
	Head     string             `json:"head"`
	Grade    string             `json:"grade"`
	Proven   bool               `json:"proven"`
	Why      string             `json:"why,omitempty"`
	Tests    []string           `json:"tests"`    // red to green, by name
	Files    []string           `json:"files"`    // the test files of the change
	Held     []journal.Loosened `json:"held"`     // existing tests that fail or no longer run
	Shown    []journal.Loosened `json:"shown"`    // changed tests whose old versions pass on the new code
	Restored []string           `json:"restored"` // protected, or they define checks: the proof had the base's versions
	Checks   []Checked          `json:"checks"`
}

// Checked is the result of a check at the base and with the change.
type Checked struct {
	Name    string         `json:"name"`
	AtBase  bool           `json:"passed_at_base"`
	Passed  bool           `json:"passed"`
	NotRun  bool           `json:"not_run,omitempty"` // with the change: setup failed
	Skipped string         `json:"skipped,omitempty"` // the paths to which it is limited, if the change touches none
	Before  *journal.Tests `json:"tests_at_base,omitempty"`
	Tests   *journal.Tests `json:"tests,omitempty"`
}

// Sum returns the result of the proof of a change.
func Sum(run journal.Run) Outcome {
	proven, _ := run.ProofOf(run.Tree)
	inspected, _ := run.InspectionOf(run.Tree)
	graded, _ := run.GradeOf(whole)
	o := Outcome{
		Base: run.Base, Head: run.Head, Tests: slices.Concat([]string{}, graded.Tests), Files: slices.Concat([]string{}, graded.Files),
		Held: slices.Concat([]journal.Loosened{}, inspected.Found), Shown: slices.Concat([]journal.Loosened{}, inspected.Shown),
		Restored: slices.Concat([]string{}, proven.Restored), Checks: []Checked{},
	}
	for _, check := range run.BaseChecks {
		told := Checked{Name: check.Name, AtBase: check.Passed, Before: check.Tests}
		ended, ran := journal.FindCheck(proven.Checks, check.Name)
		told.Passed, told.NotRun, told.Skipped, told.Tests = ended.Passed, !ran, ended.Skipped, ended.Tests
		o.Checks = append(o.Checks, told)
	}
	o.Grade, o.Why = grade(run, proven, graded)
	o.Proven = o.Grade == Proven
	return o
}

// grade returns the first reason that applies.
func grade(run journal.Run, proven journal.Proof, graded journal.StoryGraded) (grade, why string) {
	story, _ := run.Plan.Find(whole)
	switch unsettled := verdict.InspectionConcern(run); {
	case run.Baseline == nil || !run.Baseline.Usable:
		why = "no check of the base can prove anything"
		if run.Baseline != nil && run.Baseline.Why != "" {
			why = run.Baseline.Why
		}
		return Untold, why
	case !proven.Passed:
		return NotProven, proven.Why
	case proven.Empty:
		return Untold, proven.Why
	case unsettled != "":
		return Held, unsettled
	case len(proven.Restored) > 0:
		return Held, "protected files, or files that define the checks, are changed: " + journal.ShortList(proven.Restored)
	case graded.Grade == journal.RedToGreen, graded.Grade == journal.Unbroken && verdict.MeetsBar(run, story, graded.Grade):
		return Proven, graded.Why
	case graded.Grade == journal.Unverified:
		return NotProven, graded.Why
	}
	return string(graded.Grade), graded.Why
}

// Text describes an outcome for people.
func (o Outcome) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.12s..%.12s: %s", o.Base, o.Head, o.Grade)
	if o.Why != "" {
		b.WriteString(": " + o.Why)
	}
	b.WriteString("\n")
	for _, check := range o.Checks {
		now := Ended(check.Passed, check.Tests)
		switch {
		case check.NotRun:
			now = "not run"
		case check.Skipped != "":
			now = "skipped (nothing in " + check.Skipped + " is changed)"
		}
		fmt.Fprintf(&b, "  check %s: %s at the base, %s with the change\n", check.Name, Ended(check.AtBase, check.Before), now)
	}
	if shown := cmp.Or(journal.ShortList(o.Tests), journal.ShortList(o.Files)); o.Proven && shown != "" {
		b.WriteString("  red to green: " + shown + "\n")
	}
	for _, place := range o.Held {
		fmt.Fprintf(&b, "  held by %s\n", place)
	}
	for _, place := range o.Shown {
		fmt.Fprintf(&b, "  shown: %s\n", place)
	}
	if len(o.Restored) > 0 {
		fmt.Fprintf(&b, "  the proof used the base's version of %s\n", journal.ShortList(o.Restored))
	}
	return b.String()
}

// Ended describes how a check ended.
func Ended(passed bool, tests *journal.Tests) string {
	word := "failed"
	if passed {
		word = "passed"
	}
	if tests != nil && tests.Passed > tests.Packages {
		word += fmt.Sprintf(" (%d tests pass)", tests.Passed-tests.Packages)
	}
	return word
}

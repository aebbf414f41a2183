package checkout

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

// Outcome is the result of the proof of a change.
type Outcome struct {
	Base         string          `json:"base"`
	Head         string          `json:"head"`
	Result       journal.Result  `json:"result"`
	Why          string          `json:"why,omitempty"`
	Tests        []string        `json:"tests"`                    // that fail without the change, by name
	Files        []string        `json:"files"`                    // test files of the change
	DoesNotBuild bool            `json:"does_not_build,omitempty"` // the tests only do not build without the change
	Look         []journal.Look  `json:"look"`                     // for a person
	Untested     []journal.Lines `json:"untested"`                 // lines that no test needs
	Tried        journal.Tried   `json:"untested_tried"`
	Restored     []string        `json:"restored"` // protected: the proof had the base's versions
	Checks       []Checked       `json:"checks"`
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
	proof, _ := run.WholeProof()
	o := Outcome{
		Base:         run.Base,
		Head:         run.Head,
		Result:       cmp.Or(proof.Result, journal.Unknown),
		Why:          proof.Why,
		Tests:        append([]string{}, proof.Tests...),
		Files:        append([]string{}, proof.Files...),
		DoesNotBuild: proof.DoesNotBuild,
		Look:         append([]journal.Look{}, proof.Look...),
		Untested:     append([]journal.Lines{}, proof.Untested...),
		Tried:        proof.Tried,
		Restored:     append([]string{}, proof.Restored...),
		Checks:       []Checked{},
	}
	switch {
	case proof.Result == "" && run.Baseline != nil:
		o.Why = cmp.Or(run.Baseline.Why, "no check of the base can prove anything")
	case len(proof.Restored) > 0 && proof.Passed:
		o.Result = journal.NeedsReview
		o.Why = "protected files are changed: " + journal.ShortList(proof.Restored)
	}
	for _, check := range run.BaseChecks {
		ended, ran := journal.FindCheck(proof.Checks.Head, check.Name)
		o.Checks = append(o.Checks, Checked{
			Name:    check.Name,
			AtBase:  check.Passed,
			Passed:  ended.Passed,
			NotRun:  !ran,
			Skipped: ended.Skipped,
			Before:  check.Tests,
			Tests:   ended.Tests,
		})
	}
	return o
}

// Text describes an outcome for people.
func (o Outcome) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.12s..%.12s: %s", o.Base, o.Head, o.Result.Text())
	if o.Why != "" {
		b.WriteString(": " + o.Why)
	}
	b.WriteString("\n")
	for _, check := range o.Checks {
		atBase := Ended(check.AtBase, check.Before)
		withChange := Ended(check.Passed, check.Tests)
		switch {
		case check.NotRun:
			withChange = "not run"
		case check.Skipped != "":
			withChange = "skipped (nothing in " + check.Skipped + " is changed)"
		}
		fmt.Fprintf(&b, "  check %s: %s at the base, %s with the change\n", check.Name, atBase, withChange)
	}
	shown := cmp.Or(journal.ShortList(o.Tests), journal.ShortList(o.Files))
	if o.Result == journal.Proven && shown != "" {
		fmt.Fprintf(&b, "  %s: %s\n", journal.HowNewTestsFail(o.DoesNotBuild), shown)
	}
	if text := journal.UntestedText(o.Untested, o.Tried); text != "" {
		b.WriteString("  " + text + "\n")
	}
	for _, place := range o.Look {
		fmt.Fprintf(&b, "  look at %s\n", place)
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
	if tests != nil && tests.Passed > 0 {
		word += fmt.Sprintf(" (tests passed: %d)", tests.Passed)
	}
	return word
}

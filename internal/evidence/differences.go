package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Differences compares the evidence with a repeated proof, without times and digests.
func (e Evidence) Differences(repeated journal.Run) []string {
	var lines []string
	if !e.IsInspectionRequired() { // then no story depends on it
		repeated.Inspections = nil
	}
	found, is := repeated.ProofOf(e.Proof.Tree)
	if !is {
		return []string{"the proof could not be repeated"}
	}
	if found.Passed != e.Proof.Passed {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("the proof %s; the file says that it %s: %s", passes(found.Passed), passes(e.Proof.Passed), found.Why), ": "))
	}
	if !slices.Equal(found.Restored, e.Proof.Restored) {
		lines = append(lines, "protected files that are changed: "+listOf(found.Restored)+"; the file says: "+listOf(e.Proof.Restored))
	}
	if usable := repeated.Baseline != nil && repeated.Baseline.Usable; usable != e.Baseline.Usable {
		lines = append(lines, fmt.Sprintf("at the base the checks can prove something: %v; the file says: %v", usable, e.Baseline.Usable))
	}
	if found.Passed && found.Empty != e.Proof.Empty {
		lines = append(lines, fmt.Sprintf("the checks can prove something here: %v; the file says: %v", !found.Empty, !e.Proof.Empty))
	}
	if e.Code.Tree != e.Proof.Tree {
		lines = append(lines, fmt.Sprintf("the newest tree is %.12s, and the proof is of %.12s", e.Code.Tree, e.Proof.Tree))
	}
	lines = append(lines, e.endDifferences()...)
	lines = append(lines, e.inspectionDifferences(repeated)...)
	lines = append(lines, checkDifferences("at the base ", e.Baseline.Checks, repeated.BaseChecks)...)
	lines = append(lines, checkDifferences("", e.Proof.Checks, found.Checks)...)
	for _, story := range e.EarlierStories() {
		lines = append(lines, story.proofDifferences(repeated)...)
	}
	for _, story := range e.Stories {
		lines = append(lines, story.differences(repeated)...)
	}
	return lines
}

// endDifferences compares the claimed end with the stories and the proof of the file.
func (e Evidence) endDifferences() (lines []string) {
	status := policy.StatusRunning
	if e.StopReason != "" {
		status = e.StopReason.Status()
	}
	switch {
	case e.Status != status:
		return []string{fmt.Sprintf("the file says that the run is %s; by its stop reason (%s) it is %s", e.Status, cmp.Or(string(e.StopReason), "none"), status)}
	case e.Status != policy.StatusCompleted:
		return nil
	case !e.Proof.Passed:
		return []string{"the file says that the run is completed, but the proof of its newest commit does not pass"}
	}
	for _, story := range e.Stories {
		if !story.Passes {
			lines = append(lines, "the file says that the run is completed, but "+story.ID+" is open")
		}
	}
	return lines
}

// proofDifferences compares the proof of the story's own commit.
func (s Story) proofDifferences(repeated journal.Run) []string {
	found, is := repeated.ProofOf(s.Proof.Tree)
	if !is {
		return []string{"the proof of " + s.ID + " could not be repeated"}
	}
	if found.Passed != s.Proof.Passed {
		return []string{strings.TrimSuffix(fmt.Sprintf("the proof of %s %s; the file says that it %s: %s", s.ID, passes(found.Passed), passes(s.Proof.Passed), found.Why), ": ")}
	}
	return checkDifferences("at the commit of "+s.ID+" ", s.Proof.Checks, found.Checks)
}

func describeRun(skipped string) string {
	if skipped == "" {
		return "it runs"
	}
	return "it is skipped: nothing in " + skipped + " is changed"
}

// differences compares a story. Only its grade and the inspection decide whether it is proven.
func (s Story) differences(repeated journal.Run) []string {
	var lines []string
	story := plan.Story{Passes: s.Passes}
	if s.NeedsNoTest {
		story.NeedsTest = new(false)
	}
	if proven := s.Passes && verdict.IsGradeSufficient(repeated, story, s.Grade); proven != s.Proven {
		lines = append(lines, fmt.Sprintf("the file says that %s is proven: %v; by its grade (%s) it is: %v", s.ID, s.Proven, cmp.Or(s.Grade, journal.Unverified), proven))
	}
	if s.Grade == journal.Unbroken || s.Grade == journal.Unverified || s.Grade == "" {
		return lines
	}
	graded, is := repeated.GradeOf(s.ID)
	if !is || graded.Grade != s.Grade {
		return append(lines, strings.TrimSuffix(fmt.Sprintf("%s is %s; the file says %s: %s", s.ID, cmp.Or(graded.Grade, journal.Unverified), s.Grade, graded.Why), ": "))
	}
	claimed := slices.Concat(s.Tests, s.Shown)
	slices.Sort(claimed)
	claimed = slices.DeleteFunc(slices.Compact(claimed), func(test string) bool { return test == "" || slices.Contains(graded.Tests, test) })
	if len(claimed) > 0 {
		lines = append(lines, s.ID+": these tests do not go from red to green: "+listOf(claimed))
	}
	return lines
}

// inspectionDifferences compares the inspection, which a completed run must have unless it was turned off.
func (e Evidence) inspectionDifferences(repeated journal.Run) []string {
	claimed := e.Inspection
	if claimed == nil && e.IsInspectionRequired() {
		claimed = &Inspection{}
	}
	found, is := repeated.InspectionOf(repeated.Tree)
	if claimed == nil || !is {
		return nil
	}
	actual := inspectionOf(found)
	if slices.EqualFunc(claimed.Found, actual.Found, func(a, b Loosened) bool { return a.File == b.File && a.Kind == b.Kind }) && claimed.More == actual.More && claimed.Why == actual.Why {
		return nil
	}
	return []string{"the change is blocked by " + actual.describe() + "; the file says: " + claimed.describe()}
}

// IsInspectionRequired reports whether the evidence must have an inspection.
func (e Evidence) IsInspectionRequired() bool {
	return e.Inspection != nil || e.Status == policy.StatusCompleted && e.Rules.Tamper != "" && e.Code.Base != e.Code.Head
}

func (i *Inspection) describe() string {
	if i.Why != "" {
		return "an unknown number of files (" + i.Why + ")"
	}
	var all []string
	for _, place := range i.Found {
		all = append(all, place.File+" ("+place.Kind+")")
	}
	return listOf(all)
}

func passes(passed bool) string {
	if passed {
		return "passes"
	}
	return "fails"
}

func listOf(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return journal.ShortList(all)
}

func checkDifferences(where string, claimed []Result, actual []journal.CheckEnded) []string {
	var lines []string
	for _, result := range claimed {
		lines = append(lines, result.differences(where, actual)...)
	}
	for _, check := range actual {
		if !slices.ContainsFunc(claimed, func(r Result) bool { return r.Name == check.Name }) {
			lines = append(lines, fmt.Sprintf("%scheck %s was run; the file does not name it", where, check.Name))
		}
	}
	return lines
}

// differences compares the result of a check. More passed tests are no difference.
func (r Result) differences(where string, checks []journal.CheckEnded) []string {
	check, ran := journal.FindCheck(checks, r.Name)
	var text string
	actual := resultOf(check)
	tests, claimed := cmp.Or(actual.Tests, &Tests{}), cmp.Or(r.Tests, &Tests{})
	switch {
	case !ran:
		text = " was not run"
	case actual.Command != r.Command:
		text = fmt.Sprintf(" is `%s`; the file says `%s`", actual.Command, r.Command)
	case actual.Skipped != r.Skipped:
		text = fmt.Sprintf(": %s; the file says: %s", describeRun(actual.Skipped), describeRun(r.Skipped))
	case r.Flaky && (actual.Passed || actual.Flaky):
		return nil
	case actual.Passed != r.Passed:
		text = fmt.Sprintf(" %s (exit %d); the file says that it %s (exit %d)", passes(actual.Passed), actual.Exit, passes(r.Passed), r.Exit)
	case !slices.Equal(tests.failing(), claimed.failing()):
		text = fmt.Sprintf(" fails with %s; the file says: with %s", listOf(tests.failing()), listOf(claimed.failing()))
	case tests.Passed < claimed.Passed:
		text = fmt.Sprintf(": %d tests pass; the file says that %d do", tests.Passed, claimed.Passed)
	default:
		return nil
	}
	return []string{where + "check " + r.Name + text}
}

func (t *Tests) failing() []string {
	return slices.Sorted(slices.Values(slices.Concat(t.Red, t.Broken)))
}

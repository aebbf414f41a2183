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

// Differences lists what a repeated proof says otherwise, but for times and digests.
func (e Evidence) Differences(anew journal.Run) []string {
	var lines []string
	if !e.IsInspectionRequired() { // then it is said of no story
		anew.Inspections = nil
	}
	found, is := anew.ProofOf(e.Proof.Tree)
	if !is {
		return []string{"the proof could not be repeated"}
	}
	if found.Passed != e.Proof.Passed {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("the proof %s; the file says that it %s: %s", passes(found.Passed), passes(e.Proof.Passed), found.Why), ": "))
	}
	if !slices.Equal(found.Restored, e.Proof.Restored) {
		lines = append(lines, "protected files that are changed: "+listOf(found.Restored)+"; the file says: "+listOf(e.Proof.Restored))
	}
	if usable := anew.Baseline != nil && anew.Baseline.Usable; usable != e.Baseline.Usable {
		lines = append(lines, fmt.Sprintf("at the base the checks can prove something: %v; the file says: %v", usable, e.Baseline.Usable))
	}
	if found.Passed && found.Empty != e.Proof.Empty {
		lines = append(lines, fmt.Sprintf("the checks can prove something here: %v; the file says: %v", !found.Empty, !e.Proof.Empty))
	}
	if e.Code.Tree != e.Proof.Tree {
		lines = append(lines, fmt.Sprintf("the newest tree is %.12s, and the proof is of %.12s", e.Code.Tree, e.Proof.Tree))
	}
	lines = append(lines, e.falseEnd()...)
	lines = append(lines, e.inspectionDifferences(anew)...)
	lines = append(lines, checkDifferences("at the base ", e.Baseline.Checks, anew.BaseChecks)...)
	lines = append(lines, checkDifferences("", e.Proof.Checks, found.Checks)...)
	for _, story := range e.EarlierStories() {
		lines = append(lines, story.proofDifferences(anew)...)
	}
	for _, story := range e.Stories {
		lines = append(lines, story.differences(anew)...)
	}
	return lines
}

// falseEnd compares the end that the file claims with its own stories and proof.
func (e Evidence) falseEnd() (lines []string) {
	status := policy.StatusRunning
	if e.StopReason != "" {
		status = e.StopReason.Status()
	}
	switch {
	case e.Status != status:
		return []string{fmt.Sprintf("the file says that the run is %s; by its stop reason (%s) it is %s", e.Status, cmp.Or(string(e.StopReason), "the file does not say so"), status)}
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

// proofDifferences compares the proof of a story's own commit.
func (s Story) proofDifferences(anew journal.Run) []string {
	found, is := anew.ProofOf(s.Proof.Tree)
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

// differences compares a story. Its grade and the inspection alone decide whether it is proven.
func (s Story) differences(anew journal.Run) []string {
	var lines []string
	sure := plan.Story{Passes: s.Passes}
	if s.NeedsNoTest {
		sure.NeedsTest = new(false)
	}
	if proven := s.Passes && verdict.IsGradeSufficient(anew, sure, s.Grade); proven != s.Proven {
		lines = append(lines, fmt.Sprintf("the file says that %s is proven: %v; by its grade (%s) it is: %v", s.ID, s.Proven, cmp.Or(s.Grade, journal.Unverified), proven))
	}
	if s.Grade == journal.Unbroken || s.Grade == journal.Unverified || s.Grade == "" {
		return lines
	}
	graded, is := anew.GradeOf(s.ID)
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

// inspectionDifferences compares the inspection, which a completed run has unless it is turned off.
func (e Evidence) inspectionDifferences(anew journal.Run) []string {
	was := e.Inspection
	if was == nil && e.IsInspectionRequired() {
		was = &Inspection{}
	}
	found, is := anew.InspectionOf(anew.Tree)
	if was == nil || !is {
		return nil
	}
	now := inspectionOf(found)
	if slices.EqualFunc(was.Found, now.Found, func(a, b Loosened) bool { return a.File == b.File && a.Kind == b.Kind }) && was.More == now.More && was.Why == now.Why {
		return nil
	}
	return []string{"the change is held back by " + now.describe() + "; the file says: " + was.describe()}
}

// IsInspectionRequired reports whether the existing tests had to judge the change.
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

func checkDifferences(where string, was []Said, now []journal.CheckEnded) []string {
	var lines []string
	for _, said := range was {
		lines = append(lines, said.differences(where, now)...)
	}
	for _, check := range now {
		if !slices.ContainsFunc(was, func(said Said) bool { return said.Name == check.Name }) {
			lines = append(lines, fmt.Sprintf("%scheck %s was run; the file does not name it", where, check.Name))
		}
	}
	return lines
}

// differences compares the result of a check. More passed tests are no difference.
func (s Said) differences(where string, now []journal.CheckEnded) []string {
	check, ran := journal.FindCheck(now, s.Name)
	var text string
	is := resultOf(check)
	tests, were := cmp.Or(is.Tests, &Tests{}), cmp.Or(s.Tests, &Tests{})
	switch {
	case !ran:
		text = " was not run"
	case is.Command != s.Command:
		text = fmt.Sprintf(" is `%s`; the file says `%s`", is.Command, s.Command)
	case is.Skipped != s.Skipped:
		text = fmt.Sprintf(": %s; the file says: %s", describeRun(is.Skipped), describeRun(s.Skipped))
	case s.Flaky && (is.Passed || is.Flaky):
		return nil
	case is.Passed != s.Passed:
		text = fmt.Sprintf(" %s (exit %d); the file says that it %s (exit %d)", passes(is.Passed), is.Exit, passes(s.Passed), s.Exit)
	case !slices.Equal(tests.failing(), were.failing()):
		text = fmt.Sprintf(" fails with %s; the file says that it does with %s", listOf(tests.failing()), listOf(were.failing()))
	case tests.Passed < were.Passed:
		text = fmt.Sprintf(": %d tests pass; the file says that %d do", tests.Passed, were.Passed)
	default:
		return nil
	}
	return []string{where + "check " + s.Name + text}
}

func (t *Tests) failing() []string {
	return slices.Sorted(slices.Values(slices.Concat(t.Red, t.Broken)))
}

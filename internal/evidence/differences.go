package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/jsontree"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

type differences []string

func (d *differences) compare(what string, found, claimed any) {
	const most = 300 // characters
	if now, then := fmt.Sprint(found), fmt.Sprint(claimed); now != then {
		*d = append(*d, fmt.Sprintf("%s: %s; the file says: %s", what, jsontree.Clip(now, most), jsontree.Clip(then, most)))
	}
}

// Differences compares the evidence with a repeated proof, without times and digests.
func (e Evidence) Differences(repeated journal.Run) []string {
	if !e.IsInspectionRequired() { // then no story depends on it
		repeated.Inspections = nil
	}
	found, is := repeated.ProofOf(e.Proof.Tree)
	if !is {
		return []string{"the proof could not be repeated"}
	}
	var d differences
	d.compareOutcome("the proof", found, e.Proof.Passed)
	d.compare("changed protected files", listOf(found.Restored), listOf(e.Proof.Restored))
	d.compare("the checks can prove something at the base", repeated.Baseline != nil && repeated.Baseline.Usable, e.Baseline.Usable)
	if found.Passed {
		d.compare("the checks can prove something here", !found.Empty, !e.Proof.Empty)
	}
	d.compare("the proven tree", e.Proof.Tree, e.Code.Tree)
	d.compareEnd(e)
	d.compareInspection(e, repeated)
	d.compareChecks("at the base ", repeated.BaseChecks, e.Baseline.Checks)
	d.compareChecks("", found.Checks, e.Proof.Checks)
	for _, story := range e.EarlierStories() {
		d.compareProof(story, repeated)
	}
	for _, story := range e.Stories {
		d.compareStory(story, repeated)
	}
	return d
}

func (d *differences) compareOutcome(what string, found journal.Proof, claimed bool) {
	if d.compare(what, outcome(found.Passed), outcome(claimed)); found.Passed != claimed && found.Why != "" {
		*d = append(*d, what+": "+found.Why)
	}
}

// compareEnd compares the claimed end with the stories and the proof of the file.
func (d *differences) compareEnd(e Evidence) {
	status := policy.StatusRunning
	if e.StopReason != "" {
		status = e.StopReason.Status()
	}
	d.compare("the run, by its stop reason", status, e.Status)
	if e.Status != policy.StatusCompleted || status != e.Status {
		return
	}
	d.compare("the proof of a completed run", outcome(e.Proof.Passed), outcome(true))
	for _, story := range e.Stories {
		d.compare(story.ID+" passed in a completed run", story.Passes, true)
	}
}

// compareProof compares the proof of the story's own commit.
func (d *differences) compareProof(s Story, repeated journal.Run) {
	found, is := repeated.ProofOf(s.Proof.Tree)
	if !is {
		*d = append(*d, "the proof of "+s.ID+" could not be repeated")
		return
	}
	d.compareOutcome("the proof of "+s.ID, found, s.Proof.Passed)
	d.compareChecks("at the commit of "+s.ID+" ", found.Checks, s.Proof.Checks)
}

// compareStory compares a story. Only its grade and the inspection decide whether it is proven.
func (d *differences) compareStory(s Story, repeated journal.Run) {
	story := plan.Story{Passes: s.Passes}
	if s.NeedsNoTest {
		story.NeedsTest = new(false)
	}
	d.compare(fmt.Sprintf("%s is proven, by its grade (%s)", s.ID, cmp.Or(s.Grade, journal.Unverified)),
		s.Passes && verdict.IsGradeSufficient(repeated, story, s.Grade), s.Proven)
	if s.Grade == journal.Unbroken || s.Grade == journal.Unverified || s.Grade == "" {
		return
	}
	graded, _ := repeated.GradeOf(s.ID)
	if graded.Grade != s.Grade {
		d.compare("the grade of "+s.ID, cmp.Or(graded.Grade, journal.Unverified), s.Grade)
		return
	}
	claimed := slices.Concat(s.Tests, s.Shown)
	slices.Sort(claimed)
	claimed = slices.DeleteFunc(slices.Compact(claimed), func(test string) bool { return test == "" || slices.Contains(graded.Tests, test) })
	if len(claimed) > 0 {
		*d = append(*d, s.ID+": these tests do not go from red to green: "+listOf(claimed))
	}
}

// compareInspection compares the inspection, which a completed run must have unless it was turned off.
func (d *differences) compareInspection(e Evidence, repeated journal.Run) {
	claimed := e.Inspection
	if claimed == nil && e.IsInspectionRequired() {
		claimed = &Inspection{}
	}
	if found, is := repeated.InspectionOf(repeated.Tree); claimed != nil && is {
		d.compare("the change is blocked by", inspectionOf(found).describe(), claimed.describe())
	}
}

// IsInspectionRequired reports whether the evidence must have an inspection.
func (e Evidence) IsInspectionRequired() bool {
	return e.Inspection != nil || e.Status == policy.StatusCompleted && e.Rules.Tamper != "" && e.Code.Base != e.Code.Head
}

func (i *Inspection) describe() string {
	var all []string
	for _, place := range i.Found {
		all = append(all, place.File+" ("+place.Kind+")")
	}
	if i.More > 0 {
		all = append(all, fmt.Sprintf("%d more", i.More))
	}
	if i.Why != "" {
		all = append(all, "an unknown number of files ("+i.Why+")")
	}
	return listOf(all)
}

func outcome(passed bool) string {
	if passed {
		return "passes"
	}
	return "fails"
}

func listOf(all []string) string { return cmp.Or(strings.Join(all, ", "), "none") }

func (d *differences) compareChecks(where string, actual []journal.CheckEnded, claimed []Result) {
	for _, result := range claimed {
		name := where + "check " + result.Name
		check, ran := journal.FindCheck(actual, result.Name)
		if !ran {
			*d = append(*d, name+" was not run")
			continue
		}
		now := resultOf(check)
		d.compare(name, now.describeCommand(), result.describeCommand())
		if !result.Flaky || !now.Passed && !now.Flaky {
			d.compare(name, now.describeTests(result), result.describeTests(result))
		}
	}
	for _, check := range actual {
		if !slices.ContainsFunc(claimed, func(r Result) bool { return r.Name == check.Name }) {
			*d = append(*d, fmt.Sprintf("%scheck %s was run; the file does not name it", where, check.Name))
		}
	}
}

func (r Result) describeCommand() string {
	if r.Skipped != "" {
		return "`" + r.Command + "`, skipped if nothing in " + r.Skipped + " is changed"
	}
	return "`" + r.Command + "`"
}

// describeTests counts at most as many passed tests as another result: more are no difference.
func (r Result) describeTests(other Result) string {
	tests, most := cmp.Or(r.Tests, &Tests{}), cmp.Or(other.Tests, &Tests{})
	failed := slices.Sorted(slices.Values(slices.Concat(tests.Red, tests.Broken)))
	return fmt.Sprintf("%s (passed tests: %d, failed: %s)", outcome(r.Passed), min(tests.Passed, most.Passed), listOf(failed))
}

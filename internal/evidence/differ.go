package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// Differences is what a proof that was made anew says otherwise, a line each.
// Times and digests are no matter: no two runs print the same.
func (e Evidence) Differences(anew journal.Run) []string {
	var lines []string
	found, is := anew.ProofOf(e.Proof.Tree)
	if !is {
		return []string{"the proof could not be made anew"}
	}
	if found.Passed != e.Proof.Passed {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("the proof %s, and it is said that it %s: %s", how(found.Passed), how(e.Proof.Passed), found.Why), ": "))
	}
	if !slices.Equal(found.Restored, e.Proof.Restored) {
		lines = append(lines, "protected files that are changed: "+names(found.Restored)+", as it is said: "+names(e.Proof.Restored))
	}
	if usable := anew.Baseline != nil && anew.Baseline.Usable; usable != e.Baseline.Usable {
		lines = append(lines, fmt.Sprintf("at the base the checks can prove something: %v, and it is said: %v", usable, e.Baseline.Usable))
	}
	lines = append(lines, e.Inspection.differs(anew)...)
	for _, was := range e.Baseline.Checks {
		lines = append(lines, was.differs("at the base ", anew.BaseChecks)...)
	}
	for _, was := range e.Proof.Checks {
		lines = append(lines, was.differs("", found.Checks)...)
	}
	for _, story := range e.Graded() {
		graded, is := anew.GradeOf(story.ID)
		if !is || graded.Grade != story.Grade {
			lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s is %s, and it is said to be %s: %s", story.ID, cmp.Or(graded.Grade, journal.Unverified), story.Grade, graded.Why), ": "))
		}
	}
	return lines
}

// differs is what an inspection says otherwise now.
func (i *Inspection) differs(anew journal.Run) []string {
	found, is := anew.InspectionOf(anew.Tree)
	if i == nil || !is {
		return nil
	}
	now := inspection(found)
	if slices.EqualFunc(i.Found, now.Found, func(a, b Loosened) bool { return a.File == b.File && a.Kind == b.Kind }) && i.More == now.More && i.Why == now.Why {
		return nil
	}
	return []string{"tests and checks say less in " + now.told() + ", as it is said: " + i.told()}
}

// told are its places, or why nobody could look for any.
func (i *Inspection) told() string {
	if i.Why != "" {
		return "places that nobody could look for (" + i.Why + ")"
	}
	var all []string
	for _, place := range i.Found {
		all = append(all, place.File+" ("+place.Kind+")")
	}
	return names(all)
}

func how(passed bool) string {
	if passed {
		return "passes"
	}
	return "fails"
}

func names(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return journal.Few(all)
}

// differs is what a check says otherwise now.
func (s Said) differs(where string, now []journal.CheckEnded) []string {
	at := slices.IndexFunc(now, func(check journal.CheckEnded) bool { return check.Name == s.Name })
	if at < 0 {
		return []string{fmt.Sprintf("%scheck %s was not run", where, s.Name)}
	}
	check := now[at]
	if check.Passed != s.Passed {
		return []string{fmt.Sprintf("%scheck %s %s (exit %d), and it is said that it %s (exit %d)", where, s.Name, how(check.Passed), check.Exit, how(s.Passed), s.Exit)}
	}
	was, is := s.Tests.failing(), check.Tests.Failing()
	slices.Sort(was)
	slices.Sort(is)
	if !slices.Equal(was, is) {
		return []string{fmt.Sprintf("%scheck %s fails with %s, and it is said that it does with %s", where, s.Name, names(is), names(was))}
	}
	return nil
}

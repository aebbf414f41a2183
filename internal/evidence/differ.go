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
	was, is := s.ended("").Tests.Failing(), check.Tests.Failing()
	slices.Sort(was)
	slices.Sort(is)
	if !slices.Equal(was, is) {
		return []string{fmt.Sprintf("%scheck %s fails with %s, and it is said that it does with %s", where, s.Name, names(is), names(was))}
	}
	return nil
}

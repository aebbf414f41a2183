package proof

import (
	"slices"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// findBent finds the tests that failed before, or did not load, still fail in their old version, and do not in the new one.
func (j *judgement) findBent(was, here journal.CheckEnded, now tally.Tally, old *journal.CheckEnded) {
	if old == nil {
		return
	}
	var bent, gone []string
	for _, name := range old.Tests.Failing() {
		isRed, is := slices.Contains(was.Tests.Failing(), name), now.Of(name)
		switch {
		case slices.Contains(here.Tests.Failing(), name):
		case isRed && (is == tally.Skipped || is == tally.Absent && complete(here) && !onlyCounts(here, now)):
			gone = append(gone, name)
		case isRed || j.isFromBroken(was, here, *old, name):
			bent = append(bent, name)
		}
	}
	if len(bent) > 0 { // without names, so that it cannot be allowed in advance: it would prove the story
		j.add(journal.Loosened{File: j.fileOf(bent), Kind: testsBroken, Why: "tests that failed before do not fail any more only because they were changed: " + few(bent)})
	}
	if len(gone) > 0 {
		j.add(journal.Loosened{File: j.fileOf(gone), Kind: testsGone, Tests: limited(gone), Why: "tests that failed before, and would on the new code, no longer run: " + few(gone)})
	}
}

// isFromBroken reports whether a test that fails now may be in a file that did not load before.
func (j *judgement) isFromBroken(was, here, old journal.CheckEnded, name string) bool {
	head := tally.Head(name)
	isSame := func(other string) bool { return tally.Head(other) == head }
	return !was.Passed && j.told(was).Of(name) == tally.Absent && !j.judged[head] && !slices.Contains(old.Tests.Broken, name) &&
		!slices.ContainsFunc(slices.Concat(j.told(was).Names(tally.Passed), was.Tests.Failing(), here.Tests.Failing()), isSame)
}

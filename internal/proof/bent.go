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
	bent := slices.DeleteFunc(old.Tests.Failing(), func(name string) bool {
		isRed, is := slices.Contains(was.Tests.Failing(), name), now.Of(name)
		isGone := is == tally.Skipped || is == tally.Absent && complete(here) && !onlyCounts(here, now)
		return slices.Contains(here.Tests.Failing(), name) || isRed && isGone || !isRed && !j.isFromBroken(was, here, *old, name)
	})
	if len(bent) > 0 { // without names, so that it cannot be allowed in advance: it would prove the story
		j.add(journal.Loosened{File: j.fileOf(bent), Kind: testsBroken, Why: "tests that failed before do not fail any more only because they were changed: " + few(bent)})
	}
}

// redGone returns the tests that failed before and do not run any more, although their old versions fail on the new code,
// or may not build there. ran and fresh are the tests that run now, and the words of new ones.
func redGone(was journal.CheckEnded, old *journal.CheckEnded, now tally.Tally, ran, fresh map[string]bool) (gone []string) {
	if was.Tests == nil || old == nil || old.Tests == nil {
		return nil
	}
	for _, name := range was.Tests.Red {
		is, unbuilt := now.Of(name), len(old.Tests.Broken) > 0 && !ran[tally.Head(name)] && !fresh[tally.Word(name)]
		if (is == tally.Absent || is == tally.Skipped) && (unbuilt || slices.Contains(old.Tests.Red, name)) {
			gone = append(gone, name)
		}
	}
	return gone
}

// isFromBroken reports whether a test that fails now may be in a file that did not load before.
func (j *judgement) isFromBroken(was, here, old journal.CheckEnded, name string) bool {
	head := tally.Head(name)
	isSame := func(other string) bool { return tally.Head(other) == head }
	return !was.Passed && j.told(was).Of(name) == tally.Absent && !j.judged[head] && !slices.Contains(old.Tests.Broken, name) &&
		!slices.ContainsFunc(slices.Concat(j.told(was).Names(tally.Passed), was.Tests.Failing(), here.Tests.Failing()), isSame)
}

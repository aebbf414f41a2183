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

// redGone returns the tests that failed before and do not run any more. If their old versions were run, these must fail or
// not build. Of a case, or a file that did not load, they must fail: such names may change.
func (j *judgement) redGone(was, here journal.CheckEnded, old *journal.CheckEnded, now tally.Tally, runs func(head, word string) bool) (gone []string) {
	// Without a run of the old versions, or a build, nothing tells how they end.
	untold := old == nil && len(j.joined) == 0 || old != nil && old.Tests != nil && len(old.Tests.Broken) > 0
	for _, name := range was.Tests.Failing() {
		is := now.Of(name)
		if is != tally.Skipped && is != tally.Absent || slices.Contains(here.Tests.Failing(), name) {
			continue
		}
		isWhole := untold && slices.Contains(was.Tests.Red, name) && !script.MatchString(name)
		if isWhole && !runs(tally.Head(name), tally.Word(name)) || old != nil && slices.Contains(old.Tests.Failing(), name) {
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

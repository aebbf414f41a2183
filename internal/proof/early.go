package proof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// A product can end the process of its tests early: with 0, so that the check passes, or with an error that looks as if
// the tests could not be built.

// endedEarly returns what ended early although the check passed, and adds a finding if the proof itself did.
func (j *judgement) endedEarly(was, here journal.CheckEnded, old *journal.CheckEnded, passed, fine map[string]bool) []string {
	check := "check " + was.Name
	var early []string
	switch {
	case passesCutShort(was, here) && !j.isKnown(check):
		j.add(journal.Loosened{File: cmp.Or(j.onlyFile(), here.Name), Kind: testsGone, Tests: []string{check}, Why: "a test runner did not end, although its check passed: " + few(here.Tests.Broken)})
	case old != nil && passesCutShort(was, *old):
		early = []string{check}
	}
	if old == nil || !old.Passed || !complete(was) || onlyCounts(*old, j.told(*old)) {
		return early
	}
	return append(early, j.unreported(was, here, *old, passed, fine)...)
}

// failsUnnoticed finds the tests that fail by name although their check passed: their process ended with 0 after that.
func (j *judgement) failsUnnoticed(was, here journal.CheckEnded, passed map[string]bool, now tally.Tally) {
	if !was.Passed || !here.Passed {
		return
	}
	again := testNames(now, tally.Passed) // some checks run a test once more
	names := slices.DeleteFunc(now.Names(tally.Failed), func(name string) bool {
		known := passed[tally.Head(name)] || onlyCounts(was, j.told(was))
		return !known || again[name] || j.isKnown(name) || slices.Contains(was.Tests.Failing(), name)
	})
	if len(names) > 0 {
		j.add(journal.Loosened{File: cmp.Or(j.onlyFile(), here.Name), Kind: testsBroken, Tests: limited(names), Why: "existing tests fail although their check passed: " + few(names)})
	}
}

// passesCutShort reports whether a check passed although one of its runners did not end, as all did before.
func passesCutShort(was, now journal.CheckEnded) bool {
	return now.Passed && now.Tests != nil && len(now.Tests.Broken) > 0 && was.Tests != nil && len(was.Tests.Broken) == 0
}

// unreported returns the tests that passed before and still run, and that a passing run of the old tests does not name. If
// only some were selected, these are known of Go alone, which names their packages.
func (j *judgement) unreported(was, here, old journal.CheckEnded, passed, fine map[string]bool) (names []string) {
	inline := map[string]bool{}
	for _, name := range j.inline {
		inline[tally.Head(name)] = true
	}
	ran := testNames(j.told(here), tally.Passed, tally.Failed)
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		inPackage := name[:max(0, strings.LastIndexByte(name, '.'))]
		selected := old.Command == was.Command || fine[inPackage]
		if selected && ran[name] && !fine[name] && !j.judged[name] && !inline[name] && !j.isKnown(name) {
			names = append(names, name)
		}
	}
	return names
}

// crashes reports whether old tests end early on the new code, unlike before. They could be built and loaded.
func crashes(was, old journal.CheckEnded) bool {
	return old.Tests != nil && slices.ContainsFunc(old.Tests.Broken, func(name string) bool {
		return tally.Crashed(name) && !slices.Contains(was.Tests.Failing(), name)
	})
}

// killed reports whether a signal ended a check, as in a crash.
func killed(c journal.CheckEnded) bool {
	const bySignal = 128
	return c.Exit > bySignal
}

func ended(c journal.CheckEnded) string {
	if c.TimedOut {
		return c.Name + " ran out of time"
	}
	return fmt.Sprintf("%s ended with exit code %d", c.Name, c.Exit)
}

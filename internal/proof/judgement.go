package proof

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// judgement compares the results of a reference's tests with those of a commit.
type judgement struct {
	*inspection

	ctx             context.Context //nolint:containedctx // lives as long as a call
	ref             reference
	touched         []string             // tests of the reference that the change touches
	swapped         []string             // and those that it adds: the files with old versions when old tests run
	joined          []journal.CheckEnded // results of the reference's tests with what people changed later, without the agent's later work
	old             *outcome             // results of the old tests on the new code; nil: they did not run
	withoutDoubtful *outcome             // these results without doubtful files, when old has them in place
	texts           map[string][]byte    // texts of files of which only a part is put back
	imported        map[string]bool      // those of swapped that other tests may load
	differing       []Differing          // all files in which reference and commit differ
	settings        []Differing          // these are the reference's, too, when old tests run: new ones could hide what fails
	inline          []string             // names of inline tests that the change touches
	passed          map[string]bool
	broken          []string // tests, by name
	patches         map[string][]string
}

// judge compares the results at the reference with those of the proof and of the old tests.
func (j *judgement) judge() error {
	if j.old != nil && j.old.unready != "" {
		j.add(journal.Loosened{File: j.swapped[0], Kind: testsBroken, Why: "the existing tests could not be run on the new code: " + j.old.unready})
		return nil
	}
	if err := j.readPatches(); err != nil {
		return err
	}
	for _, was := range j.ref.checks {
		here, proven := journal.FindCheck(j.proof.Checks, was.Name)
		if !proven || here.Skipped != "" || was.TimedOut || was.CannotRun || verdict.IsAddedByTask(j.run, was.Name) || !was.Passed && !was.HasNamedFailures() {
			continue
		}
		j.compare(was, here)
	}
	j.assign()
	return nil
}

// judgeDoubtful judges once more with doubtful files and settings in place, as the product may
// load them. First all of them are, then only those that neither lie nor are named as tests do:
// a new test could mend what the change breaks.
func (j *judgement) judgeDoubtful(number int, asked map[string]selected, sure []string) error {
	all, found := slices.Clone(j.swapped), len(j.found)
	for _, d := range j.settings {
		all = append(all, d.Path)
	}
	certain := setOf(sure)
	called := slices.DeleteFunc(slices.Clone(j.swapped), func(name string) bool { return suite.Tracked(name) == suite.None && !certain[name] })
	j.withoutDoubtful, j.touched, j.inline, j.settings = j.old, nil, nil, nil
	tried := 0
	for _, files := range [][]string{sure, called} {
		if len(files) == tried || len(files) == len(all) || len(j.found) > found {
			continue
		}
		tried = len(files)
		number += tryDoubtful
		if err := j.runOldTests(number, maps.Clone(asked), files); err != nil {
			return err
		}
		old := setOf(files)
		j.swapped = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return old[name] })
		if err := j.judge(); err != nil {
			return err
		}
	}
	return nil
}

// buildFailsWithDoubtful reports whether a check fails to build only with doubtful files in place.
func (j *judgement) buildFailsWithDoubtful(old journal.CheckEnded) bool {
	return j.withoutDoubtful != nil && buildFails(old, j.withoutDoubtful.checks)
}

func (j *judgement) add(place journal.Loosened) { j.found = append(j.found, place) }

func (j *judgement) compare(was, here journal.CheckEnded) {
	var old *journal.CheckEnded
	if j.old != nil {
		if ended, ran := journal.FindCheck(j.old.checks, was.Name); ran {
			old = &ended
		}
	}
	now := j.told(here)
	passed, fewer := j.expected(was)
	unnamed := (j.countsMore(was) || onlyCounts(here, now)) && !fewer
	if old != nil && (old.TimedOut || old.CannotRun || killed(*old)) {
		j.add(journal.Loosened{File: j.swapped[0], Kind: testsBroken, Tests: []string{"check " + was.Name}, Why: "the existing tests" + j.ref.since() + " could not be run to their end on the new code: " + ended(*old)})
	} else {
		// The check with old tests fails for another reason than a test or a build.
		if old != nil && verdict.BlocksStory(j.run, *old) && (len(old.Tests.Failing()) == 0 || j.buildFailsWithDoubtful(*old) || crashes(was, *old)) {
			j.broken = append(j.broken, "check "+was.Name)
		}
		j.compareNames(was, here, old, passed, now)
		if unnamed {
			j.compareCounts(was, here, old)
		}
	}
	maps.Copy(j.passed, passed)
}

// compareNames finds the tests that passed before, and now fail or do not run, and red ones that no longer run.
func (j *judgement) compareNames(was, here journal.CheckEnded, old *journal.CheckEnded, passed map[string]bool, now tally.Tally) {
	var failing []string
	fine := map[string]bool{}
	if old != nil {
		failing = slices.DeleteFunc(j.failing(was, *old, passed), func(name string) bool { return j.isChance(here, name) })
		fine = testNames(j.told(*old), tally.Passed)
	}
	j.broken = append(j.broken, append(failing, j.endedEarly(was, here, old, passed, fine)...)...)
	j.findBent(was, here, now, old)
	notRun := slices.DeleteFunc(slices.Clone(j.inline), func(name string) bool {
		head := tally.Head(name)
		return old == nil || !passed[head] || fine[head] || slices.Contains(failing, head)
	})
	if len(notRun) > 0 {
		j.add(journal.Loosened{File: j.swapped[0], Kind: testsBroken, Tests: limited(notRun), Why: "existing inline tests cannot run on the new code: " + few(notRun)})
	}
	// A check that passes must name all tests, also where its output is too long, or nothing of a runner is left in it.
	if !complete(was) || !complete(here) && !here.Passed || onlyCounts(here, now) {
		return
	}
	ran := testNames(now, tally.Passed, tally.Failed)
	fresh := newWords(ran, passed)
	j.failsUnnoticed(was, here, passed, now)
	var gone, moved []string
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		switch {
		case j.judged[name] || ran[name] || fine[name] || slices.Contains(failing, name):
		case fresh[tally.Word(name)]:
			moved = append(moved, name)
		default:
			gone = append(gone, name)
		}
	}
	runs := func(head, word string) bool { return j.judged[head] || ran[head] || fine[head] || fresh[word] }
	if gone = slices.Concat(gone, j.hidden(moved, old), j.redGone(was, here, old, now, runs)); len(gone) > 0 {
		j.add(journal.Loosened{File: cmp.Or(j.onlyFile(), here.Name), Kind: testsGone, Tests: limited(gone), Why: "existing tests no longer run" + j.ref.since() + ": " + few(gone)})
	}
}

// newWords returns the words in the names of tests that did not pass before.
func newWords(ran, passed map[string]bool) map[string]bool {
	words := map[string]bool{}
	for name := range ran {
		if !passed[name] {
			words[tally.Word(name)] = true
		}
	}
	return words
}

// fileOf returns the first touched file whose diff names one of these tests.
func (j *judgement) fileOf(names []string) string {
	for _, file := range j.touched {
		if slices.ContainsFunc(names, func(name string) bool { return j.isAbout(file, name) }) {
			return file
		}
	}
	return j.swapped[0]
}

// isAbout reports whether the diff of a touched file names a test.
func (j *judgement) isAbout(file, name string) bool {
	return len(j.touched) == 1 || slices.ContainsFunc(j.patches[file], func(line string) bool { return strings.Contains(line, tally.Word(name)) })
}

// failing returns the tests whose old versions newly fail on the new code.
func (j *judgement) failing(was, old journal.CheckEnded, passed map[string]bool) []string {
	names := map[string]bool{}
	unnamed := len(passed) == 0 || j.countsMore(was)
	for _, name := range old.Tests.Failing() {
		known := passed[tally.Head(name)] || unnamed && !j.judged[tally.Head(name)]
		if known && !j.isKnown(tally.Head(name)) && !slices.Contains(was.Tests.Failing(), name) && !slices.Contains(old.Tests.Broken, name) && (!old.Flaky || !old.PassedInFirstRun(name)) {
			names[tally.Head(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// isChance reports whether a test failed in the first run of the proof and passed in the
// second. If no test file was changed, the proof ran the existing tests, and has decided.
func (j *judgement) isChance(here journal.CheckEnded, head string) bool {
	return here.Flaky && here.Passed &&
		!slices.ContainsFunc(j.touched, func(file string) bool { return suite.Of(file) != suite.None }) &&
		slices.ContainsFunc(here.First.Tests.Failing(), func(name string) bool { return tally.Head(name) == head })
}

// isKnown reports whether a newer reference has found a test already.
func (j *judgement) isKnown(name string) bool {
	return slices.ContainsFunc(j.found, func(place journal.Loosened) bool { return slices.Contains(place.Tests, name) })
}

// assign adds a finding for each touched file whose diff names a broken test, and shows the
// other touched files.
func (j *judgement) assign() {
	left := slices.Clone(j.broken)
	found, shown := byFile(j.found), byFile(j.shown)
	for _, file := range j.touched {
		about := func(name string) bool { return j.isAbout(file, name) }
		var here []string
		for _, name := range left {
			if about(name) {
				here = append(here, name)
			}
		}
		left = slices.DeleteFunc(left, about)
		place := journal.Loosened{File: file, Kind: testsChanged, Why: "existing tests changed; their old versions pass on the new code, or all of them still run", Lines: j.patches[file]}
		if len(here) > 0 {
			place.Kind, place.Tests, place.Why = testsBroken, limited(here), "existing tests fail on the new code"+j.ref.since()+": "+few(here)
			j.add(place)
			continue
		}
		if i, is := found[file]; is { // then it must not be shown as harmless
			j.found[i].Lines = j.patches[file]
		} else if _, is := shown[file]; !is {
			j.shown = append(j.shown, place)
		}
	}
	if len(left) > 0 {
		j.add(journal.Loosened{File: j.swapped[0], Kind: testsBroken, Tests: limited(left), Why: "existing tests fail on the new code" + j.ref.since() + j.inPlace() + ": " + few(left), Lines: j.patches[j.swapped[0]]})
	}
}

// byFile returns the first place in each file.
func byFile(places []journal.Loosened) map[string]int {
	first := map[string]int{}
	for i, place := range slices.Backward(places) {
		first[place.File] = i
	}
	return first
}

func (j *judgement) inPlace() string {
	if j.withoutDoubtful == nil {
		return ""
	}
	return " with " + few(j.swapped) + " in place"
}

func (j *judgement) readPatches() error {
	j.patches = map[string][]string{}
	for _, file := range j.touched[:min(len(j.touched), mostFound)] {
		lines, err := j.prover.Changes.Patch(j.ctx, j.ref.tests, j.commit, file)
		if err != nil {
			return fmt.Errorf("compare %s: %w", file, err)
		}
		j.patches[file] = lines
	}
	return nil
}

// onlyFile returns the touched test file if there is only one.
func (j *judgement) onlyFile() string {
	if len(j.touched) == 1 {
		return j.touched[0]
	}
	return ""
}

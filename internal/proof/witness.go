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

// witness is what the tests of a reference say of a commit.
type witness struct {
	*inspection

	ctx     context.Context //nolint:containedctx // lives as long as a call
	ref     reference
	changed []string          // tests of the reference that the change touches
	all     []string          // these, and those that it brings
	old     *sight            // their old versions on the new code; nil: none was touched
	first   *sight            // the same without doubtful files, where old is with them
	texts   map[string][]byte // content of files in all that are put back in part
	inline  []string          // names of inline tests that the change touches
	told    map[string]bool
	broken  []string // tests, by name
	patches map[string][]string
}

// judge compares what passed at the reference with what passes now, and with the old tests.
func (w *witness) judge() error {
	if w.old != nil && w.old.unready != "" {
		w.find(journal.Loosened{File: w.all[0], Kind: testsBroken, Why: "the existing tests could not be run on the new code: " + w.old.unready})
		return nil
	}
	for _, was := range w.ref.checks {
		here, proven := journal.FindCheck(w.proof.Checks, was.Name)
		if !proven || here.Skipped != "" || was.TimedOut || was.CannotRun || verdict.IsAddedByTask(w.run, was.Name) || !was.Passed && !was.HasNamedFailures() {
			continue
		}
		w.check(was, here)
	}
	return w.name()
}

// again judges with doubtful files in place: what the product loads is the product's.
// Those that lie or are called as tests do may be new tests, and mend what the others break.
func (w *witness) again(number int, asked map[string]selected, sure []string) error {
	all, found := w.all, len(w.found)
	called := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return suite.Tracked(name) == suite.None && !slices.Contains(sure, name) })
	w.first, w.changed, w.inline = w.old, nil, nil
	tried := 0
	for _, files := range [][]string{sure, called} {
		if len(files) == tried || len(files) == len(all) || len(w.found) > found {
			continue
		}
		tried = len(files)
		number += tryDoubtful
		if err := w.hear(number, maps.Clone(asked), files); err != nil {
			return err
		}
		w.all = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(files, name) })
		if err := w.judge(); err != nil {
			return err
		}
	}
	return nil
}

// breaks tells that a check fails to build only with doubtful files in place.
func (w *witness) breaks(old journal.CheckEnded) bool {
	if w.first == nil || old.Tests == nil {
		return false
	}
	first, _ := journal.FindCheck(w.first.checks, old.Name)
	return slices.ContainsFunc(old.Tests.Broken, func(name string) bool { return first.Tests == nil || !slices.Contains(first.Tests.Broken, name) })
}

func (w *witness) find(place journal.Loosened) { w.found = append(w.found, place) }

func (w *witness) check(was, here journal.CheckEnded) {
	var old *journal.CheckEnded
	if w.old != nil {
		if ended, ran := journal.FindCheck(w.old.checks, was.Name); ran {
			old = &ended
		}
	}
	before, now := w.prover.Tests.Told(was), w.prover.Tests.Told(here)
	passed := heads(before, tally.Passed)
	unnamed := was.Tests != nil && was.Tests.Passed > len(before.Names(tally.Passed))
	if old != nil && (old.TimedOut || old.CannotRun || killed(*old)) {
		w.find(journal.Loosened{File: w.all[0], Kind: testsBroken, Tests: []string{"check " + was.Name}, Why: "the existing tests" + w.ref.since() + " could not be run to their end on the new code: " + ended(*old)})
	} else {
		// The old check fails, and not by a test or a build.
		if old != nil && verdict.BlocksStory(w.run, *old) && (len(old.Tests.Failing()) == 0 || w.breaks(*old)) {
			w.broken = append(w.broken, "check "+was.Name)
		}
		w.byName(was, here, old, passed, now)
		if unnamed {
			w.byCount(was, here, old)
		}
	}
	maps.Copy(w.told, passed)
}

// byName are the tests that passed once and fail or do not run now.
func (w *witness) byName(was, here journal.CheckEnded, old *journal.CheckEnded, passed map[string]bool, now tally.Tally) {
	var failing []string
	fine := map[string]bool{}
	if old != nil {
		failing = slices.DeleteFunc(w.failing(was, *old, passed), func(name string) bool { return w.chance(here, name) })
		fine = heads(w.prover.Tests.Told(*old), tally.Passed)
	}
	w.broken = append(w.broken, failing...)
	w.bent(was, now, old)
	unheard := slices.DeleteFunc(slices.Clone(w.inline), func(name string) bool {
		head := tally.Head(name)
		return old == nil || !passed[head] || fine[head] || slices.Contains(failing, head)
	})
	if len(unheard) > 0 {
		w.find(journal.Loosened{File: w.all[0], Kind: testsBroken, Tests: limited(unheard), Why: "existing inline tests cannot run on the new code: " + few(unheard)})
	}
	if !complete(was) || !complete(here) {
		return
	}
	ran, fresh := heads(now, tally.Passed, tally.Failed), map[string]bool{}
	for name := range ran {
		if !passed[name] {
			fresh[tally.Word(name)] = true
		}
	}
	var gone []string
	for _, name := range slices.Sorted(maps.Keys(passed)) {
		if !w.judged[name] && !ran[name] && !fine[name] && !fresh[tally.Word(name)] && !slices.Contains(failing, name) {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		w.find(journal.Loosened{File: cmp.Or(w.only(), here.Name), Kind: testsGone, Tests: limited(gone), Why: "existing tests no longer run" + w.ref.since() + ": " + few(gone)})
	}
}

// bent are tests that failed before and pass now only because they were changed.
func (w *witness) bent(was journal.CheckEnded, now tally.Tally, old *journal.CheckEnded) {
	if old == nil {
		return
	}
	var names []string
	for _, name := range old.Tests.Failing() {
		if slices.Contains(was.Tests.Failing(), name) && now.Of(name) == tally.Passed {
			names = append(names, name)
		}
	}
	if len(names) > 0 { // cannot be allowed in advance: it would show the story
		w.find(journal.Loosened{File: w.all[0], Kind: testsBroken, Why: "tests that failed before pass only because they were changed: " + few(names)})
	}
}

// failing are existing tests that fail on the new code in their old version, and did not before.
func (w *witness) failing(was, old journal.CheckEnded, passed map[string]bool) []string {
	names := map[string]bool{}
	for _, name := range old.Tests.Failing() {
		known := passed[tally.Head(name)] || len(passed) == 0 && !w.judged[tally.Head(name)]
		if known && !w.known(tally.Head(name)) && !slices.Contains(was.Tests.Failing(), name) && !slices.Contains(old.Tests.Broken, name) && (!old.Flaky || !old.PassedInFirstRun(name)) {
			names[tally.Head(name)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// chance tells that a test failed in the first run of the proof and passed in the
// second. Where no test file was changed the existing tests are those of the proof,
// which has decided that already.
func (w *witness) chance(here journal.CheckEnded, head string) bool {
	return here.Flaky && here.Passed &&
		!slices.ContainsFunc(w.changed, func(file string) bool { return suite.Of(file) != suite.None }) &&
		slices.ContainsFunc(here.First.Tests.Failing(), func(name string) bool { return tally.Head(name) == head })
}

// known tells that a newer reference has found a test already.
func (w *witness) known(name string) bool {
	return slices.ContainsFunc(w.found, func(place journal.Loosened) bool { return slices.Contains(place.Tests, name) })
}

// byCount judges by a runner that only counts the tests that pass.
func (w *witness) byCount(was, here journal.CheckEnded, old *journal.CheckEnded) {
	passing := func(c journal.CheckEnded) int {
		if c.Tests == nil {
			return 0
		}
		return c.Tests.Passed
	}
	if old != nil && (old.Passed || passing(*old) >= was.Tests.Passed) || passing(here) >= was.Tests.Passed {
		return
	}
	w.find(journal.Loosened{
		File: cmp.Or(w.only(), here.Name), Kind: testsGone, Tests: []string{"check " + was.Name},
		Why: fmt.Sprintf("fewer tests run%s: %d passed before, %d pass now", w.ref.since(), was.Tests.Passed, passing(here)),
	})
}

// name assigns the findings to the changed files that they concern, and shows the
// other changed files.
func (w *witness) name() error {
	if err := w.read(); err != nil {
		return err
	}
	left := slices.Clone(w.broken)
	for _, file := range w.changed {
		about := func(name string) bool {
			return len(w.changed) == 1 || slices.ContainsFunc(w.patches[file], func(line string) bool { return strings.Contains(line, tally.Word(name)) })
		}
		var here []string
		for _, name := range left {
			if about(name) {
				here = append(here, name)
			}
		}
		left = slices.DeleteFunc(left, about)
		place := journal.Loosened{File: file, Kind: testsChanged, Why: "existing tests changed; their old versions pass on the new code, or all of them still run", Lines: w.patches[file]}
		if len(here) > 0 {
			place.Kind, place.Tests, place.Why = testsBroken, limited(here), "existing tests fail on the new code"+w.ref.since()+": "+few(here)
			w.find(place)
			continue
		}
		inFile := func(other journal.Loosened) bool { return other.File == file }
		if i := slices.IndexFunc(w.found, inFile); i >= 0 { // to show it as harmless, too, would contradict that
			w.found[i].Lines = w.patches[file]
		} else if !slices.ContainsFunc(w.shown, inFile) {
			w.shown = append(w.shown, place)
		}
	}
	if len(left) > 0 {
		w.find(journal.Loosened{File: w.all[0], Kind: testsBroken, Tests: limited(left), Why: "existing tests fail on the new code" + w.ref.since() + w.staying() + ": " + few(left), Lines: w.patches[w.all[0]]})
	}
	return nil
}

func (w *witness) staying() string {
	if w.first == nil {
		return ""
	}
	return " with " + few(w.all) + " in place"
}

func (w *witness) read() error {
	w.patches = map[string][]string{}
	for _, file := range w.changed[:min(len(w.changed), mostFound)] {
		lines, err := w.prover.Changes.Patch(w.ctx, w.ref.commit, w.commit, file)
		if err != nil {
			return fmt.Errorf("compare %s: %w", file, err)
		}
		w.patches[file] = lines
	}
	return nil
}

// only is the one test file that the change touches, or empty.
func (w *witness) only() string {
	if len(w.changed) == 1 {
		return w.changed[0]
	}
	return ""
}

func limited(names []string) []string { return names[:min(len(names), mostNames)] }

// killed tells that a check ended by a signal, as what crashes does.
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

// complete tells whether what a check told of tests is all there was.
func complete(check journal.CheckEnded) bool {
	return check.Tests != nil && !check.Tests.Cut && !check.TimedOut && !check.CannotRun
}

package proof

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// The kinds of findings, which docs/proof.md explains.
const (
	testsBroken  = "tests_broken"  // existing tests fail on the new code
	testsGone    = "tests_gone"    // existing tests no longer run
	testsChanged = "tests_changed" // existing tests were changed, and their old versions pass on the new code
	testsSteered = journal.TestsSteered
	asksForTests = journal.AsksForTests
)

// Differing is a file in which two commits differ.
type Differing struct {
	Path   string
	Was    bool // it is in the earlier commit
	Tests  bool // it is a test, or serves tests
	Steers bool // it changes how other tests run, and did not before
	Asks   bool // it is no test, asks whether it is being tested, and did not before
	// Doubtful is a file of Tests that the product may load: it is new in a folder of
	// tests, or only the name of a framework in it shows that it is a test.
	Doubtful bool
	Imported bool     // another test of the base names it, and may load it
	Settings bool     // a tool may read it, and it neither is a test nor defines checks as a whole
	Inline   []string // names of tests that this code file contains
	Text     []byte   // its content when old tests run; nil: the earlier commit's
}

// Changes compares commits.
type Changes interface {
	// Differing returns the files in which two commits differ, without ralph's own.
	Differing(ctx context.Context, run journal.Run, from, to string) ([]Differing, error)
	// Patch returns the first lines of a file's diff.
	Patch(ctx context.Context, from, to, path string) ([]string, error)
	// Reads reports whether a command, or a file of the base that defines it, names a variable.
	Reads(ctx context.Context, run journal.Run, command, variable string) (bool, error)
	// Mixed reports whether vitest may run test files in one process: a commit contains
	// its word for it, or they differ in its settings.
	Mixed(ctx context.Context, run journal.Run, from, to string) (bool, error)
	// Text returns a file of a commit, or nothing if it is missing, a link or too large.
	Text(ctx context.Context, commit, path string) (string, error)
}

// Standing describes a proof's commit in which the files at Paths are those of From, or
// missing as there, and the files of Texts have these texts.
type Standing struct {
	From  string
	Paths []string
	Texts map[string][]byte
}

func (s *Standing) add(path string, text []byte) {
	if text == nil {
		s.Paths = append(s.Paths, path)
	} else {
		s.Texts[path] = text
	}
}

// Inspect judges a commit that passed its proof by the existing tests. If the change
// touches tests, the old versions run on the new code, without new tests: a test that
// passed before must pass. Tests that fail or no longer run are Found. Harmless changes
// of tests are Shown.
func (p Prover) Inspect(ctx context.Context, run journal.Run, step verdict.Inspect, emit func(journal.Event)) error {
	inspected := journal.ChangeInspected{Commit: step.Commit, Tree: step.Tree}
	proof, found := run.ProofOf(step.Tree)
	if run.Baseline == nil || !run.Baseline.Usable || !found || !proof.Passed {
		emit(inspected) // the proof shows nothing that tests could hide
		return nil
	}
	i := inspection{records: records{tests: p.Tests}, prover: p, run: run, commit: step.Commit, proof: proof, judged: map[string]bool{}, words: map[[2]string]bool{}}
	for _, check := range proof.Checks {
		i.told(check)
	}
	if err := i.judge(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		inspected.Why = err.Error()
	}
	if i.unread != nil {
		inspected.Why = i.unread.Error()
	}
	inspected.Found, inspected.Shown = i.found[:min(len(i.found), mostFound)], i.shown[:min(len(i.shown), mostFound)]
	inspected.More, inspected.CheckRuns = len(i.found)-len(inspected.Found), i.ran
	emit(inspected)
	return nil
}

const mostFound = 50 // recorded places of an inspection

type inspection struct {
	records

	prover Prover
	run    journal.Run
	commit string
	proof  journal.Proof

	judged       map[string]bool    // tests that a newer reference has judged
	words        map[[2]string]bool // the files and kinds that findWord has found
	newer        []string           // commits of the references before
	found, shown []journal.Loosened
	ran          journal.CheckRuns
}

func (i *inspection) judge(ctx context.Context) (err error) {
	for n, ref := range references(i.run, i.commit) {
		for _, check := range ref.checks {
			i.told(check)
		}
		for _, others := range ref.later {
			if ref.tests, err = i.tests.With(ctx, ref.tests, others); err != nil {
				return err
			}
		}
		if err = i.judgeBy(ctx, n+1, ref); err != nil {
			return err
		}
	}
	return errors.Join(i.findLost(ctx), i.tryBaseSettings(ctx))
}

// judgeBy judges the commit by the tests of a reference. They run only if the change
// touches or adds tests. Those of an older reference run only if a story has changed
// them since.
func (i *inspection) judgeBy(ctx context.Context, number int, ref reference) (err error) {
	differing, err := i.prover.Changes.Differing(ctx, i.run, ref.tests, i.commit)
	if err != nil {
		return fmt.Errorf("compare the tests of %.12s with those of %.12s: %w", ref.commit, i.commit, err)
	}
	j := judgement{inspection: i, ctx: ctx, ref: ref, passed: map[string]bool{}, texts: map[string][]byte{}, imported: map[string]bool{}}
	defer maps.Copy(i.judged, j.passed)
	sure := j.note(differing)
	if err = j.findUnknown(); err != nil {
		return err
	}
	left, err := i.outdated(ctx, ref, j.touched)
	if err != nil {
		return err
	}
	older, before := len(i.newer) > 0, len(i.found)
	defer func() {
		i.allow(ref, before)
		if ref.failed == "" { // else not all tests may have run
			i.newer = append(i.newer, ref.tests)
		}
	}()
	unaffected := len(j.swapped) == 0 || older && len(left) == 0 && (ref.story != "" || i.knowsAllNames(ref))
	builds, err := j.join(number, unaffected)
	switch {
	case err != nil:
		return err
	case !builds:
		ref.tests = ref.commit
		return i.judgeBy(ctx, number, ref)
	case unaffected:
		return j.judge()
	}
	return j.judgeOld(number, older, sure, left)
}

// judgeOld runs the old tests. New tests are left out: they may change the results of others, or the product.
func (j *judgement) judgeOld(number int, older bool, sure, left []string) error {
	asked, err := j.selectTests(older, sure, left)
	if err != nil {
		return err
	}
	if j.ref.story == "" && j.ref.tests == j.ref.commit && j.putsBackAll() {
		j.old = &outcome{checks: j.ref.checks} // the new code with the old versions is the base
	} else if err = j.runOldTests(number, maps.Clone(asked), j.swapped); err != nil {
		return err
	}
	before := len(j.found)
	if err = j.judge(); err != nil || len(j.found) > before {
		return err
	}
	return j.judgeDoubtful(number, asked, sure)
}

// findUnknown finds touched tests of which the newest reference does not tell whether they passed.
func (j *judgement) findUnknown() error {
	if j.ref.failed == "" || len(j.newer) > 0 {
		return nil
	}
	theirs, err := j.changedByPeople()
	unknown := slices.IndexFunc(j.touched, func(name string) bool { return j.ref.people == nil || theirs[name] })
	if unknown >= 0 {
		j.add(journal.Loosened{File: j.touched[unknown], Kind: testsGone, Why: "which tests passed is not known, as the checks failed before this run's work: " + j.ref.failed})
	}
	return err
}

// testsAlone reports whether two commits differ only in certain tests. The path must show it,
// too: a file that a check names counts as a test, and may be the product.
func testsAlone(differing []Differing) bool {
	return len(differing) > 0 && !slices.ContainsFunc(differing, func(d Differing) bool { return !d.Tests || d.Doubtful || suite.Of(d.Path) == suite.None })
}

// outdated returns a reference's touched tests that each newer reference has in another version.
func (i *inspection) outdated(ctx context.Context, ref reference, changed []string) ([]string, error) {
	left := slices.Clone(changed)
	for _, newer := range i.newer {
		differing, err := i.prover.Changes.Differing(ctx, i.run, ref.tests, newer)
		if err != nil {
			return nil, fmt.Errorf("compare the tests of %.12s with those of %.12s: %w", ref.commit, newer, err)
		}
		differs := map[string]bool{}
		for _, d := range differing {
			differs[d.Path] = true
		}
		left = slices.DeleteFunc(left, func(name string) bool { return !differs[name] })
	}
	return left, nil
}

// note records the tests that the change touches, and returns those that certainly are tests.
func (j *judgement) note(differing []Differing) (sure []string) {
	j.differing = differing
	for _, d := range differing {
		switch {
		case d.Asks:
			j.findWord(d.Path, asksForTests, "the code asks whether it is being tested, or replaces what tests assert with")
		case d.Steers:
			j.findWord(d.Path, testsSteered, "it changes how other tests run")
		}
		if !d.Tests {
			if d.Settings {
				j.settings = append(j.settings, d)
			}
			continue
		}
		j.swapped = append(j.swapped, d.Path)
		j.inline, j.texts[d.Path], j.imported[d.Path] = append(j.inline, d.Inline...), d.Text, d.Imported
		if d.Was {
			j.touched = append(j.touched, d.Path)
		}
		if !d.Doubtful {
			sure = append(sure, d.Path)
		}
	}
	return sure
}

// putsBackAll reports whether nothing of the change is left when old tests run.
func (j *judgement) putsBackAll() bool {
	return !slices.ContainsFunc(j.differing, func(d Differing) bool { return !d.Tests && !d.Settings || d.Text != nil })
}

// knowsAllNames reports whether all passing tests of a reference are known by name.
func (i *inspection) knowsAllNames(ref reference) bool {
	return !slices.ContainsFunc(ref.checks, func(was journal.CheckEnded) bool {
		told := i.told(was)
		return len(told.Tests) == 0 || was.Tests != nil && was.Tests.Passed > len(told.Names(tally.Passed))
	})
}

// findWord adds a finding about a word in a file, once.
func (i *inspection) findWord(file, kind, why string) {
	if word := [2]string{file, kind}; !i.words[word] {
		i.words[word] = true
		i.found = append(i.found, journal.Loosened{File: file, Kind: kind, Why: why})
	}
}

func few(names []string) string { return strings.TrimSpace(journal.ShortList(names)) }

// setOf serves long lists: an agent decides how many files it changes.
func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

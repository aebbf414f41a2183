package proof

import (
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

// The kinds of what an inspection finds, as docs/proof.md explains them.
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
	Asks   bool // it is a product's, asks whether it is being tested, and did not before
	// Doubtful is a file of Tests that the product may load: it is new in a folder of
	// the tests, or all that tells of tests is that it names a framework.
	Doubtful bool
	Settings bool     // a tool may read it: no test, and not put back whole as what defines the checks
	Inline   []string // names of tests that this code file contains
	Text     []byte   // its content in a trial; nil: the earlier commit's
}

// Changes tells how commits differ.
type Changes interface {
	// Differing are the files in which two commits differ, but for the loop's own.
	Differing(ctx context.Context, run journal.Run, from, to string) ([]Differing, error)
	// Patch is the change of one file, as the first lines of a diff.
	Patch(ctx context.Context, from, to, path string) ([]string, error)
	// Reads tells whether a command, or what defines it at the base, names a variable.
	Reads(ctx context.Context, run journal.Run, command, variable string) (bool, error)
	// Mixed tells whether vitest may run test files in one process: one of two commits
	// has a word for it, or they differ in its settings.
	Mixed(ctx context.Context, run journal.Run, from, to string) (bool, error)
}

// Standing is a proof's commit with the files at Paths as From has them, or without them,
// and with some of another text.
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

// reference is a commit whose tests judge the work.
type reference struct {
	commit string
	story  string               // whose work it was; empty: the base
	checks []journal.CheckEnded // what they said there
}

// Inspect has the tests that were there before judge a commit that passed its
// proof. Where the change touches tests, the tests as they were are put onto the
// new code and run, without new ones: a test that passed then must pass here. What no longer passes,
// and what no longer runs, is Found; a change of tests that hides nothing is
// Shown. No language is read for it.
func (p Prover) Inspect(ctx context.Context, run journal.Run, step verdict.Inspect, emit func(journal.Event)) error {
	inspected := journal.ChangeInspected{Commit: step.Commit, Tree: step.Tree}
	proof, found := run.ProofOf(step.Tree)
	if run.Baseline == nil || !run.Baseline.Usable || !found || !proof.Passed {
		emit(inspected) // nothing is proven here, no matter what the tests say
		return nil
	}
	i := inspection{prover: p, run: run, commit: step.Commit, proof: proof, judged: map[string]bool{}}
	for n, ref := range references(run, step.Commit) {
		if err := i.by(ctx, n+1, ref); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			inspected.Why = err.Error()
		}
	}
	if err := i.settled(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		inspected.Why = err.Error()
	}
	passing, _ := run.OpenIteration()
	i.allow(passing.Story)
	inspected.Found, inspected.Shown = i.found[:min(len(i.found), mostFound)], i.shown[:min(len(i.shown), mostFound)]
	inspected.More, inspected.CheckRuns = len(i.found)-len(inspected.Found), i.ran
	emit(inspected)
	return nil
}

const mostFound = 50 // how many places an inspection has on record

// references are the commits whose tests judge the work, the newest first: those
// of earlier stories that are proven, and the base. A story whose own change of
// tests waits for a person is none.
func references(run journal.Run, commit string) []reference {
	var refs []reference
	for _, g := range slices.Backward(run.Grades) {
		newest, _ := run.GradeOf(g.Story)
		if g.Grade != journal.RedToGreen || g.Commit != newest.Commit || g.Commit == commit {
			continue
		}
		for _, proof := range run.Proofs {
			inspected, _ := run.InspectionOf(proof.Tree)
			if proof.Commit == g.Commit && proof.Passed && len(inspected.Found) == 0 {
				refs = append(refs, reference{commit: g.Commit, story: g.Story, checks: proof.Checks})
				break
			}
		}
	}
	return append(refs, reference{commit: run.Base, checks: run.BaseChecks})
}

type inspection struct {
	prover Prover
	run    journal.Run
	commit string
	proof  journal.Proof

	judged       map[string]bool // tests of which a newer reference has told
	newer        []string        // the commits of references that have judged
	found, shown []journal.Loosened
	ran          journal.CheckRuns
}

// by has the tests of a reference judge the commit. They are run only where the
// change touches tests, or brings new ones; those of an older reference only where
// a story changed them since.
func (i *inspection) by(ctx context.Context, number int, ref reference) error {
	differing, err := i.prover.Changes.Differing(ctx, i.run, ref.commit, i.commit)
	if err != nil {
		return fmt.Errorf("compare the tests of %.12s with those of %.12s: %w", ref.commit, i.commit, err)
	}
	w := witness{inspection: i, ctx: ctx, ref: ref, told: map[string]bool{}, texts: map[string][]byte{}}
	defer maps.Copy(i.judged, w.told)
	sure := w.touch(differing)
	left, err := i.left(ctx, ref, w.changed)
	if err != nil {
		return err
	}
	older := len(i.newer) > 0
	i.newer = append(i.newer, ref.commit)
	if len(w.all) == 0 || older && len(left) == 0 && (ref.story != "" || i.named(ref)) {
		return w.judge()
	}
	if ref.story == "" && len(sure) == len(differing) {
		w.old = &sight{checks: ref.checks} // with all of them as they were, the new code is the base
		return w.judge()
	}
	// Without what is new: a new test may change what others say, or the product itself.
	asked, err := w.ask(older, sure, left)
	if err != nil {
		return err
	}
	if err = w.hear(number, maps.Clone(asked), w.all); err != nil {
		return err
	}
	before := len(i.found)
	if err = w.judge(); err != nil || len(i.found) > before {
		return err
	}
	return w.again(number, asked, sure)
}

// testsAlone tells whether two commits differ only in what is tests beyond doubt, also by
// path: a file that a check names counts as a test, and may be the product.
func testsAlone(differing []Differing) bool {
	return len(differing) > 0 && !slices.ContainsFunc(differing, func(d Differing) bool { return !d.Tests || d.Doubtful || suite.Of(d.Path) == suite.None })
}

// left are a reference's touched tests that no newer reference has in the same version.
func (i *inspection) left(ctx context.Context, ref reference, changed []string) ([]string, error) {
	left := slices.Clone(changed)
	for _, newer := range i.newer {
		differing, err := i.prover.Changes.Differing(ctx, i.run, ref.commit, newer)
		if err != nil {
			return nil, fmt.Errorf("compare the tests of %.12s with those of %.12s: %w", ref.commit, newer, err)
		}
		left = slices.DeleteFunc(left, func(name string) bool {
			return !slices.ContainsFunc(differing, func(d Differing) bool { return d.Path == name })
		})
	}
	return left, nil
}

// touch notes what the change does to tests, and returns those that are tests beyond doubt.
func (w *witness) touch(differing []Differing) (sure []string) {
	for _, d := range differing {
		switch {
		case d.Asks:
			w.mark(d.Path, asksForTests, "the code asks whether it is being tested, or replaces what tests assert with")
		case d.Steers:
			w.mark(d.Path, testsSteered, "it changes how other tests run")
		}
		if !d.Tests {
			continue
		}
		w.all = append(w.all, d.Path)
		w.inline, w.texts[d.Path] = append(w.inline, d.Inline...), d.Text
		if d.Was {
			w.changed = append(w.changed, d.Path)
		}
		if !d.Doubtful {
			sure = append(sure, d.Path)
		}
	}
	return sure
}

// named tells whether all tests of a reference that pass are known by name.
func (i *inspection) named(ref reference) bool {
	return !slices.ContainsFunc(ref.checks, func(was journal.CheckEnded) bool {
		told := i.prover.Tests.Told(was)
		return len(told.Tests) == 0 || was.Tests != nil && was.Tests.Passed > len(told.Names(tally.Passed))
	})
}

// mark finds a file by what is written in it.
func (i *inspection) mark(file, kind, why string) {
	if !slices.ContainsFunc(i.found, func(f journal.Loosened) bool { return f.File == file && f.Kind == kind }) {
		i.found = append(i.found, journal.Loosened{File: file, Kind: kind, Why: why})
	}
}

// allow moves what the story's author has allowed, now or earlier, to what is only shown.
func (i *inspection) allow(story string) {
	now, _ := i.run.Plan.Find(story)
	allowed := map[string]bool{}
	for _, earlier := range i.run.Inspections {
		for _, place := range earlier.Shown {
			for _, name := range place.Tests {
				allowed[name] = place.Kind != testsChanged
			}
		}
	}
	var kept []journal.Loosened
	for _, place := range i.found {
		known := len(place.Tests) > 0 && !slices.ContainsFunc(place.Tests, func(name string) bool { return !allowed[name] })
		if known || now.MayChangeTests && len(place.Tests) > 0 {
			i.shown = append(i.shown, place)
		} else {
			kept = append(kept, place)
		}
	}
	i.found = kept
}

// since tells when the tests of a reference were as they were run.
func (r reference) since() string {
	if r.story == "" {
		return ""
	}
	return ", as they were when " + r.story + " passed"
}

func few(names []string) string { return strings.TrimSpace(journal.ShortList(names)) }

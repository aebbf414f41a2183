package proof

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// Tries in the name of a grade, told apart from those of an inspection.
const (
	tryProof = 101 + iota
	tryBase
	tryStart
)

// heard is a check where it was asked to name every test.
type heard struct {
	check string
	at    journal.Where
}

// told are the tests of a check, from where it was asked to name them, if it was.
func (t *trial) told(check journal.CheckEnded, at journal.Where) tally.Tally {
	if loud, asked := t.loud[heard{check.Name, at}]; asked {
		return loud
	}
	return t.tests.Told(check)
}

// hear asks the checks again that pass and name no tests, of which some are red
// on the base code: that a package is well does not say that a test of it ran.
func (p Prover) hear(ctx context.Context, t *trial) error {
	var quiet []string
	for _, there := range t.seen.checks {
		if here, proven := find(t.proof.Checks, there.Name); proven && !there.Passed && len(t.fresh(there)) > 0 && t.quiet(here) {
			quiet = append(quiet, there.Name)
		}
	}
	if len(quiet) == 0 {
		return nil
	}
	t.loud = map[heard]tally.Tally{}
	for _, name := range quiet { // who is not heard has seen nothing pass
		t.loud[heard{name, journal.AtProof}] = tally.Tally{}
	}
	at := Place{Where: journal.AtDoubt, Commit: t.graded.Commit, Aloud: true, Only: func(name string) bool { return slices.Contains(quiet, name) }}
	var err error
	if at.Stand, _, err = p.restore(ctx, t.run, t.graded.Commit); err != nil {
		return err
	}
	at.Number = tryProof + t.number
	if err := p.listen(ctx, t, at, journal.AtProof); err != nil {
		return err
	}
	at.Commit, at.Stand, at.Number = t.run.Base, "", tryBase+t.number
	return p.listen(ctx, t, at, journal.AtBase)
}

func (p Prover) listen(ctx context.Context, t *trial, at Place, as journal.Where) error {
	seen, err := p.run(ctx, t.run, at, func(journal.Event) {})
	for _, check := range seen.checks {
		t.loud[heard{check.Name, as}] = t.tests.Told(check)
	}
	return err
}

// quiet tells whether go test was run so that it names packages alone, and what
// failed.
func (t *trial) quiet(here journal.CheckEnded) bool {
	return here.Tests != nil && here.Tests.Runner == "go" && slices.ContainsFunc(t.tests.Told(here).Names(tally.Passed), bare)
}

// bare tells whether a name is a Go package's.
func bare(name string) bool {
	return !slices.ContainsFunc([]string{".Test", ".Example", ".Fuzz"}, func(of string) bool { return strings.Contains(name, of) })
}

// before tells whether a test is another story's, or passed before this one was
// begun.
func (t *trial) before(name string) bool {
	if t.run.Credited(name, t.graded.Story) {
		return true
	}
	return slices.ContainsFunc(t.run.ProofsBefore(t.graded.Story), func(proof journal.Proof) bool {
		return slices.ContainsFunc(proof.Checks, func(check journal.CheckEnded) bool { return t.tests.Told(check).Of(name) == tally.Passed })
	})
}

// shares tells whether the story has test files in common with one that was
// graded before it began: what fails as a whole may be that one's.
func (t *trial) shares() bool {
	if len(t.run.ProofsBefore(t.graded.Story)) == 0 {
		return false
	}
	return slices.ContainsFunc(t.run.Grades, func(g journal.Graded) bool {
		return g.Story != t.graded.Story && slices.ContainsFunc(g.Files, func(file string) bool { return slices.Contains(t.graded.Files, file) })
	})
}

// since tries the tests on the code that the story began with.
func (p Prover) since(ctx context.Context, t *trial, files []string) error {
	earlier := t.run.ProofsBefore(t.graded.Story)
	began := t.run
	began.Base = earlier[len(earlier)-1].Commit
	stand, err := p.Tests.Onto(ctx, began, t.graded.Commit, files)
	if err != nil {
		return err
	}
	at := Place{Where: journal.AtDoubt, Commit: t.graded.Commit, Stand: stand, Again: t.doubtful, Number: tryStart}
	seen, err := p.run(ctx, t.run, at, func(journal.Event) {})
	t.anew = &seen
	return err
}

// still leaves what is red on the code that the story began with, too.
func (t *trial) still(one turned, check string) turned {
	there, ran := find(t.anew.checks, check)
	red := ran && !there.Passed && untold(there) == ""
	left := turned{tests: one.tests, all: one.all && red}
	failing := there.Tests.Failing()
	for _, whole := range one.wholes {
		if red && slices.ContainsFunc(failing, func(name string) bool { return strings.HasPrefix(name, whole) }) {
			left.wholes = append(left.wholes, whole)
		}
	}
	t.owned = t.owned || one.whole() && !left.whole()
	return left
}

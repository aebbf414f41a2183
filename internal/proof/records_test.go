package proof_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

const lost = "the record of the tests of test cannot be read: it was changed"

// without has tests of which some records cannot be read.
type without struct {
	testsAndChanges
	lost func(journal.CheckEnded) bool
}

func (w without) Told(check journal.CheckEnded) (tally.Tally, error) {
	if w.lost(check) {
		return tally.Tally{}, errors.New(lost)
	}
	return w.testsAndChanges.Told(check)
}

// Without names, no test of the base would be missed.
func TestInspectNeedsRecords(t *testing.T) {
	const both = "passed p.TestA\npassed p.TestB"
	for _, commit := range []string{"", "b0", "c1"} {
		b := &bench{}
		run := proved(asked(judged("b0", both)), judged("c1", both))
		tests := byCommit{shelf{}, map[string]string{"b0": both, "c1": both}}
		got := b.inspect(t, run, without{tests, func(c journal.CheckEnded) bool { return c.Commit == commit }})
		if want := commit != ""; got.Why != lost && want || got.Why != "" && !want {
			t.Errorf("without the record of %q: %q", commit, got.Why)
		}
	}
}

// Without names, a test of the base or of an earlier story would prove the story.
func TestGradeNeedsRecords(t *testing.T) {
	const cart = "p.TestCart"
	tests := shelf{files: []string{"cart.go", "cart_test.go"}, stand: "b0+tests", lists: map[journal.Where]string{journal.AtProof: "passed " + cart}}
	for _, at := range []journal.Where{"", journal.AtBase, journal.AtProof} {
		l := &lab{says: []journal.CheckEnded{failing([]string{cart})}}
		p := l.prover()
		p.Tests = without{tests, func(c journal.CheckEnded) bool { return at != "" && c.Where == at }}
		if err := p.Grade(t.Context(), proved(asked(counted(1)), counted(2)), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		want := journal.StoryGraded{Story: "US-001", Commit: "c1", Files: []string{"cart_test.go"}, Grade: journal.Unverified, Why: lost}
		if at == "" {
			want.Grade, want.Why, want.Tests = journal.RedToGreen, "", []string{cart}
		}
		if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
			t.Errorf("without the record at %q (-want +got):\n%s", at, diff)
		}
	}
}

// counting counts how often a check's record is read.
type counting struct {
	shelf
	reads map[*journal.Tests]int
}

func (c counting) Told(check journal.CheckEnded) (tally.Tally, error) {
	c.reads[check.Tests]++
	return c.shelf.Told(check)
}

// A record has as many as 100,000 names, and an agent decides how many of them are asked for.
func TestRecordsAreReadOnce(t *testing.T) {
	var files []string
	var ran strings.Builder
	for i := range 50 {
		files = append(files, fmt.Sprintf("f%d.test.js", i))
		fmt.Fprintf(&ran, "passed t%d\n", i)
	}
	there := failing(files)
	there.Tests.Runner = "tap"
	lists := map[journal.Where]string{journal.AtProof: ran.String(), journal.AtTests: ran.String()}
	tests := counting{shelf{files: []string{"cart.go", "cart_test.go"}, stand: "b0+", lists: lists}, map[*journal.Tests]int{}}
	run := proved(asked(told("tap", 1)), told("tap", 50))
	l := &lab{says: []journal.CheckEnded{there}}
	p := l.prover()
	p.Tests = tests
	if err := p.Grade(t.Context(), run, verdict.Grade{Story: "US-001", Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	if got, is := l.last().(journal.StoryGraded); !is || got.Grade != journal.Unbroken {
		t.Errorf("graded %+v", l.last())
	}
	for _, n := range tests.reads {
		if n > 1 {
			t.Errorf("a record was read %d times", n)
		}
	}
}

// An agent decides how many files it changes. With 100,000 of a kind, it took more than ten minutes.
func TestInspectOfManyFiles(t *testing.T) {
	const many = 100_000
	var differing []proof.Differing
	for n := range many {
		differing = append(differing,
			proof.Differing{Path: fmt.Sprintf("of/%06d_test.go", n), Was: true, Tests: true},
			proof.Differing{Path: fmt.Sprintf("of/%06d.data", n), Was: true, Tests: true, Doubtful: true},
			proof.Differing{Path: fmt.Sprintf("of/%06d.go", n), Was: true, Asks: true})
	}
	const all = "passed p.TestOne\npassed p.TestTen"
	tests := byCommit{
		shelf{differing: map[string][]proof.Differing{"b0..c1": differing, "b0..c0": differing, "c0..c1": differing}},
		map[string]string{"b0": "passed p.TestOne", "c0": all, "c1": all, "old": all},
	}
	b := &bench{lab: lab{says: []journal.CheckEnded{judged("c1", all)}}}
	got := b.inspect(t, second(), tests)
	if found, shown := len(got.Found)+got.More, len(got.Shown); found != many || shown != 50 || got.Found[0].Kind != journal.AsksForTests || got.Why != "" {
		t.Errorf("found %d files and shown %d, want %d and 50: %q", found, shown, many, got.Why)
	}
}

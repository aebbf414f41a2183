package proof_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
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

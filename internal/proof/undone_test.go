package proof_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
)

const tenTest = "p.TestTen"

// wanting is a file with a test that wants a price.
func wanting(called, of, price string) []byte {
	return fmt.Appendf(nil, "package p\n\nimport \"testing\"\n\nfunc Test%s(t *testing.T) {\n\tif Price(%s) != %s {\n\t\tt.Error(%q)\n\t}\n}\n", called, of, price, called)
}

// second is a run in which a second story was just proven, after a first one that
// was shown by TestTen.
func second() journal.Run {
	run := proved(asked(counted(1)), counted(2))
	run.BaseChecks[0].Commit, run.Proofs[0].Checks[0].Commit = "b0", "c1"
	old := run.Proofs[0].Checks[0]
	old.Commit = "c0"
	run.Proofs = append([]journal.Proof{{Commit: "c0", Tree: "t0", Passed: true, Checks: []journal.CheckEnded{old}}}, run.Proofs...)
	run.Grades = []journal.Graded{{Story: "US-001", Commit: "c0", Grade: journal.RedToGreen, Files: []string{"price.go", "ten_test.go"}, Tests: []string{tenTest}}}
	return run
}

// shelves tell of tests by commit.
type shelves struct {
	shelf

	at map[string]string
}

func (s shelves) Told(check journal.CheckEnded) tally.Tally { return tally.Parse(s.at[check.Commit]) }

// undone is what is found of what became of the first story.
func undone(t *testing.T, b *bench, tests proof.Tests, run journal.Run, since ...tamper.Change) []string {
	t.Helper()
	p := b.prover()
	p.Tests = tests
	p.Changes = func(_ context.Context, from, to string) ([]tamper.Change, error) {
		if from != "c0" || to != "c1" {
			return nil, errors.New(from + ".." + to)
		}
		return since, nil
	}
	found, err := p.Doubts(t.Context(), run, verdict.Inspect{Commit: "c1", Tree: "t1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range found {
		all = append(all, fmt.Sprint(f.File, " ", f.Kind, ": ", f.Why))
	}
	return all
}

// What showed an earlier story has to show it still: the base knows nothing of it,
// so it is held against the commit that the story passed with.
func TestLaterStoriesLeaveEarlierOnesShown(t *testing.T) {
	price := tamper.Change{Path: "price.go", Before: []byte("package p\n\nfunc Price(n int) int { return n * 2 }\n"), After: []byte("package p\n\nfunc Price(n int) int { return n * 3 }\n")}
	other := tamper.Change{Path: "ten_test.go", Before: wanting("Ten", "10", "20"), After: wanting("Ten", "10", "30")}
	here := "passed p.TestOne\npassed " + tenTest
	for name, c := range map[string]struct {
		there journal.CheckEnded // on the base code
		told  string
		since []tamper.Change
		want  string
	}{
		"nothing was done to it":      {counted(1), here, []tamper.Change{price}, ""},
		"it wants what is there":      {counted(1), here, []tamper.Change{price, other}, "US-001 was shown by its tests, and as they are now they pass without its change, too"},
		"it wants something else":     {failing([]string{tenTest}), here, []tamper.Change{price, other}, ""},
		"another fails there":         {failing([]string{"p.TestLess"}), here + "\npassed p.TestLess", []tamper.Change{price, other}, "pass without its change"},
		"it has another name":         {failing([]string{"p.TestMany"}), "passed p.TestOne\npassed p.TestMany", []tamper.Change{price, {Path: "ten_test.go", Before: wanting("Ten", "10", "20"), After: wanting("Many", "10", "20")}}, ""},
		"it is skipped":               {counted(1), here, []tamper.Change{{Path: "ten_test.go", Before: other.Before, After: []byte(strings.Replace(string(other.Before), "\tif", "\tt.Skip()\n\tif", 1))}}, "is skipped"},
		"it is gone":                  {counted(1), here, []tamper.Change{{Path: "ten_test.go", Before: other.Before}}, "the test TestTen is gone"},
		"it does not run, but stands": {counted(1), "passed p.TestOne", []tamper.Change{{Path: "go.mod", Before: []byte("module p"), After: []byte("module p\n\nignore ./x")}}, "do not run any more: " + tenTest},
		"nobody could try it":         {func() journal.CheckEnded { c := red("test", 127); c.CannotRun = true; return c }(), here, []tamper.Change{price, other}, ""},
	} {
		b := &bench{lab: lab{says: []journal.CheckEnded{c.there}}, says: [][]journal.CheckEnded{{c.there}}}
		tests := shelves{shelf{stand: "b0+tests"}, map[string]string{"b0": "passed p.TestOne", "c0": here, "c1": c.told}}
		got := strings.Join(undone(t, b, tests, second(), c.since...), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}

// A story whose commit is not there any more is no reason to break the run, and
// none to be sure.
func TestEarlierStorysCommitIsGone(t *testing.T) {
	run := second()
	run.Grades[0].Commit = "c9"
	got := strings.Join(undone(t, &bench{}, shelf{stand: "b0+tests"}, run), "\n")
	if want := "price.go assertion_weakened: nobody can tell what became of the tests of US-001: c9..c1"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}

// A test that looks like the one that is gone is no reason for it: as it was, it
// has to pass on what is there now.
func TestEarlierStorysTestIsTriedAsItWas(t *testing.T) {
	gone := []tamper.Change{
		{Path: "price.go", Before: []byte("package p\n\nfunc Price(n int) int { return n * 2 }\n"), After: []byte("package p\n\nfunc Price(n int) int { return n * 3 }\n")},
		{Path: "less_test.go", After: wanting("Less", "-1", "0")},
		{Path: "ten_test.go", Before: wanting("Ten", "10", "20")},
	}
	for name, c := range map[string]struct {
		says journal.CheckEnded
		want []string
	}{
		"it fails":  {failing([]string{tenTest}), []string{"ten_test.go test_deleted: the test TestTen is gone; as it was when its story passed, it fails here"}},
		"it passes": {counted(2), nil},
	} {
		b := &bench{says: [][]journal.CheckEnded{{c.says}}}
		got := undone(t, b, shelf{stand: "b0+tests"}, second(), gone...)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{"ten_test.go=" + string(gone[2].Before)}, []string{b.wanted[0] + "\n"}); diff != "" {
			t.Errorf("%s: put there (-want +got):\n%s", name, diff)
		}
	}
}

package proof_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// A test that passed at the base and is not told of any more is a finding, unless
// the change takes its text away, or it goes by another name or place now.
func TestTestsThatDoNotRunAnyMore(t *testing.T) {
	const before = "tests that ran before do not run any more: "
	grown := tamper.Change{Path: "test_a.py", Before: []byte("def test_one(): pass"), After: []byte("def test_one(): pass\ndel test_one")}
	for name, c := range map[string]struct {
		base, here string
		changes    []tamper.Change
		want       []string
	}{
		"all run":                 {"passed a.test_one", "passed a.test_one\npassed a.test_two", nil, nil},
		"one does not":            {"passed a.test_one\npassed a.test_two", "passed a.test_two", nil, []string{"test: " + before + "a.test_one"}},
		"it is still written":     {"passed a.test_one", "passed a.test_two", []tamper.Change{grown}, []string{"test_a.py: " + before + "a.test_one"}},
		"it is skipped":           {"passed a.test_one", "skipped a.test_one", nil, []string{"test: " + before + "a.test_one"}},
		"its text is gone":        {"passed a.test_one", "passed a.test_two", []tamper.Change{{Path: "test_a.py", Before: grown.Before}}, nil},
		"its file is gone":        {"passed tests/one.sh", "passed tests/two.sh", []tamper.Change{{Path: "tests/one.sh", Before: []byte("true\n")}}, nil},
		"its file is not run":     {"passed tests/one.sh", "passed tests/two.sh", nil, []string{"test: " + before + "tests/one.sh"}},
		"it has moved":            {"passed a.test_one", "passed b.test_one", nil, nil},
		"one of its name remains": {"passed a.test_one\npassed b.test_one", "passed b.test_one", nil, []string{"test: " + before + "a.test_one"}},
		"it was red":              {"failed a.test_one", "passed a.test_two", nil, nil},
		"other rows":              {"passed p.TestA/1_a\npassed p.TestA/2_b/c", "passed p.TestA/3", nil, nil},
		"no rows any more":        {"passed p.TestA/1\npassed p.TestA/2", "passed p.TestB", nil, []string{"test: " + before + "p.TestA"}},
		"other parameters":        {"passed a.py::test_one[1]", "passed a.py::test_one[2]", nil, nil},
		"a title":                 {"passed a.test.js > Cart > it costs 1.5", "passed a.test.js > Cart > b", nil, []string{"test: " + before + "a.test.js > Cart > it costs 1.5"}},
		"a title with another in it": {
			"passed a.test.js > one", "passed a.test.js > one costs 3",
			[]tamper.Change{{Path: "a.test.js", Before: []byte("test('one', f)"), After: []byte("test('one costs 3', f)")}},
			nil,
		},
		"a title that was made": {
			"passed a.test.js > Cart > costs 1", "passed a.test.js > Cart > costs 2",
			[]tamper.Change{{Path: "a.test.js", Before: []byte("each([1])"), After: []byte("each([2])")}},
			nil,
		},
		"a title, and lines that came": {
			"passed a.test.js > Cart > costs 1", "passed a.test.js > Cart > costs 2",
			[]tamper.Change{{Path: "a.test.js", Before: []byte("a()"), After: []byte("a()\nb()")}},
			[]string{"test: " + before + "a.test.js > Cart > costs 1"},
		},
		"unittest's": {"passed test_one (a.A.test_one)", "passed test_two (a.A.test_two)", nil, []string{"test: " + before + "test_one (a.A.test_one)"}},
	} {
		run := proved(asked(counted(2)), counted(2))
		p := (&lab{}).prover()
		p.Tests = shelf{lists: map[journal.Where]string{journal.AtBase: c.base, journal.AtProof: c.here}}
		if diff := cmp.Diff(c.want, lost(t, p, run, c.changes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Where not all tests are told, none is missed.
func TestNobodyMissesWhatWasNotTold(t *testing.T) {
	cut := counted(2)
	cut.Tests.Cut = true
	for name, run := range map[string]journal.Run{
		"cut":      proved(asked(counted(2)), cut),
		"no names": proved(asked(counted(2)), green("test")),
		"red":      func() journal.Run { r := proved(asked(counted(2)), counted(2)); r.Proofs[0].Passed = false; return r }(),
	} {
		p := (&lab{}).prover()
		p.Tests = shelf{lists: map[journal.Where]string{journal.AtBase: "passed a.test_one"}}
		if got := lost(t, p, run, nil); got != nil {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

func lost(t *testing.T, p proof.Prover, run journal.Run, changes []tamper.Change) (all []string) {
	t.Helper()
	found, err := p.Doubts(t.Context(), run, verdict.Inspect{Commit: "c1", Tree: "t1"}, changes)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		all = append(all, f.File+": "+f.Why)
	}
	return all
}

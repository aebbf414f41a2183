package proof_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// A proof is made of a commit without what it changed of protected files.
func TestProveWithoutProtected(t *testing.T) {
	l, run := &lab{says: []journal.CheckEnded{green("test")}}, asked(green("test"))
	p := l.prover()
	p.Restore = func(context.Context, journal.Run, string) (string, []string, error) {
		return "c1-restored", []string{"CODEOWNERS"}, nil
	}
	if err := p.Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	l.want(t, "c1-restored")
	want := journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: true, Why: "as it was", Restored: []string{"CODEOWNERS"}}
	if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
		t.Errorf("Prove (-want +got):\n%s", diff)
	}
	broken := errors.New("no space left")
	p.Restore = func(context.Context, journal.Run, string) (string, []string, error) { return "", nil, broken }
	if err := p.Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); !errors.Is(err, broken) {
		t.Errorf("Prove = %v, want %v", err, broken)
	}
}

// The product may load a new file that only its folder or its words make a test.
// The old tests run without it and with it, and all runs have to pass: without a new
// file that may be a test, too, as it could mend what another breaks.
func TestDoubtfulFilesStayOnce(t *testing.T) {
	const both, failing = "passed p.TestA\npassed p.TestB", "failed p.TestA\npassed p.TestB"
	touched := proof.Differing{Path: "a_test.go", Tests: true, Was: true}
	fresh := proof.Differing{Path: "fixtures/x.json", Tests: true, Doubtful: true}
	helper := proof.Differing{Path: "compare.go", Was: true, Tests: true, Doubtful: true}
	with := "tests_broken fixtures/x.json: existing tests fail on the new code with fixtures/x.json in place: "
	for name, c := range map[string]struct {
		differing     []proof.Differing
		without, with string
		want          []string
		runs          []string
	}{
		"both pass":             {[]proof.Differing{touched, fresh}, both, both, nil, []string{"b0: a_test.go fixtures/x.json", "b0: a_test.go"}},
		"one fails with it":     {[]proof.Differing{touched, fresh}, both, failing, []string{with + "p.TestA"}, []string{"b0: a_test.go fixtures/x.json", "b0: a_test.go"}},
		"a new test fails":      {[]proof.Differing{touched, fresh}, both, both + "\nfailed p.TestNew", nil, []string{"b0: a_test.go fixtures/x.json", "b0: a_test.go"}},
		"they build without it": {[]proof.Differing{touched, fresh}, both, "broken p", []string{with + "check test"}, []string{"b0: a_test.go fixtures/x.json", "b0: a_test.go"}},
		"they never build":      {[]proof.Differing{touched, fresh}, "broken p", "broken p", nil, []string{"b0: a_test.go fixtures/x.json", "b0: a_test.go"}},
		"no test was changed":   {[]proof.Differing{fresh}, both, failing, nil, []string{"b0: fixtures/x.json"}},
		"a new one mends": {
			[]proof.Differing{fresh, helper},
			both, failing,
			[]string{"tests_broken compare.go: existing tests fail on the new code with compare.go in place: p.TestA"},
			[]string{"b0: fixtures/x.json compare.go", "b0: fixtures/x.json"},
		},
		"in all that are doubtful": {
			[]proof.Differing{touched, fresh, helper},
			both, both, nil,
			[]string{"b0: a_test.go fixtures/x.json compare.go", "b0: a_test.go", "b0: a_test.go fixtures/x.json"},
		},
		"nothing is doubtful": {[]proof.Differing{touched}, both, failing, nil, []string{"b0: a_test.go"}},
	} {
		run := proved(asked(judged("b0", both)), judged("c1", both))
		run.Baseline.Usable = true
		lists := map[string]string{"b0": both, "c1": both}
		b := &bench{}
		b.stood = func() {
			lists["old"] = []string{c.without, c.with, c.with}[len(b.wanted)-1]
			b.says = []journal.CheckEnded{judged("c1", lists["old"])}
		}
		got := b.inspect(t, run, byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": c.differing}}, lists})
		if diff := cmp.Diff(c.want, places(got.Found)); diff != "" || !slices.Equal(b.wanted, c.runs) {
			t.Errorf("%s: ran %q, found (-want +got):\n%s", name, b.wanted, diff)
		}
	}
}

// Old tests run with the settings of their own commit: new ones could let them pass, and the changed tests need none.
// They run with the new ones, too: a file that is taken for settings may be the product's data.
func TestOldTestsRunWithTheirSettings(t *testing.T) {
	const list, failing = "passed p.TestA", "failed p.TestA"
	for with, want := range map[string][]string{list: nil, failing: {"tests_broken x.json: existing tests fail on the new code with x.json in place: p.TestA"}} {
		run := proved(asked(judged("b0", list)), judged("c1", list))
		run.Baseline.Usable = true
		differing := []proof.Differing{{Path: "a.go", Was: true}, {Path: "a_test.go", Tests: true, Was: true}, {Path: "x.json", Was: true, Settings: true}}
		lists := map[string]string{"b0": list, "c1": list}
		b := &bench{}
		b.stood = func() {
			lists["old"] = []string{list, with, list}[len(b.wanted)-1]
			b.says = []journal.CheckEnded{judged("c1", lists["old"])}
		}
		got := b.inspect(t, run, byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": differing}}, lists})
		if diff := cmp.Diff(want, places(got.Found)); diff != "" {
			t.Errorf("found (-want +got):\n%s", diff)
		}
		if runs := []string{"b0: a_test.go x.json", "b0: a_test.go", "b0: x.json"}; !slices.Equal(b.wanted, runs) {
			t.Errorf("ran %q, want %q", b.wanted, runs)
		}
	}
}

// jest names the passing tests of one file and counts those of several, so the names are missing once a file is added.
func TestNamesEndWithTheSecondFile(t *testing.T) {
	for count, want := range map[int]int{3: 0, 1: 1} {
		base, here := judged("b0", "passed p.TestA\npassed p.TestB"), judged("c1", "passed p.TestA")
		here.Tests.Passed = count
		b := &bench{lab: lab{says: []journal.CheckEnded{judged("c1", "failed p.TestX")}}}
		run := proved(asked(base), here)
		run.Baseline.Usable = true
		differing := []proof.Differing{{Path: "a.js", Was: true}, {Path: "b.test.js", Tests: true}}
		got := b.inspect(t, run, byCommit{shelf{differing: map[string][]proof.Differing{"b0..c1": differing}}, map[string]string{"b0": "passed p.TestA\npassed p.TestB"}})
		if len(got.Found) != want {
			t.Errorf("with %d passing tests, found %q, want %d", count, places(got.Found), want)
		}
	}
}

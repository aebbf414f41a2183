package proof_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// named returns a check that is red with these tests, beside some that pass.
func named(passed int, red ...string) journal.CheckEnded {
	return journal.CheckEnded{Name: "test", Exit: 1, Tests: &journal.Tests{Runner: "go", Passed: passed, Failed: len(red), Red: red}}
}

// counted returns a check that is green, and how many tests it told of.
func counted(passed int) journal.CheckEnded {
	return journal.CheckEnded{Name: "test", Passed: true, Tests: &journal.Tests{Runner: "go", Passed: passed}}
}

// A red base whose failures have names is of use.
func TestBaselineByName(t *testing.T) {
	broken := journal.CheckEnded{Name: "test", Exit: 1, Tests: &journal.Tests{Runner: "go", Broken: []string{"p"}}}
	late := named(1, "a")
	late.TimedOut = true
	for name, test := range map[string]struct {
		says  journal.CheckEnded
		added bool
		want  journal.BaselineEnded
	}{
		"by name":         {named(1, "a", "b"), false, journal.BaselineEnded{Usable: true, Why: "test was red before (exit 1): a, b"}},
		"many":            {named(1, "a", "b", "c", "d", "e", "f"), false, journal.BaselineEnded{Usable: true, Why: "test was red before (exit 1): a, b, c, d, e and 1 more"}},
		"did not build":   {broken, false, journal.BaselineEnded{Why: "test was red before (exit 1)"}},
		"out of time":     {late, false, journal.BaselineEnded{Why: "test ran out of time at the base"}},
		"of the task":     {named(1, "a"), true, journal.BaselineEnded{Why: "test was named by the task itself and proves nothing"}},
		"without a name":  {red("test", 1), false, journal.BaselineEnded{Why: "test was red before (exit 1)"}},
		"green and named": {counted(3), false, journal.BaselineEnded{Usable: true}},
	} {
		l, run := &lab{says: []journal.CheckEnded{test.says}}, asked(test.says)
		run.Policy.Checks[0].Added = test.added
		if err := l.prover().Baseline(t.Context(), run, verdict.Baseline{}, l.emit); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(journal.Event(test.want), l.last()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Only what did not fail at the base holds a proof back, and a proof in which
// nothing is known to pass is worth nothing.
func TestProveByName(t *testing.T) {
	flaky := counted(3)
	flaky.Flaky, flaky.First = true, &journal.Try{Exit: 2}
	for name, test := range map[string]struct {
		base, now journal.CheckEnded
		want      journal.ProofEnded
	}{
		"the old ones":      {named(1, "a", "b"), named(1, "a", "b"), journal.ProofEnded{Passed: true, Why: "as it was"}},
		"mended":            {named(1, "a", "b"), counted(3), journal.ProofEnded{Passed: true, Why: "as it was"}},
		"a new one":         {named(1, "a"), named(1, "a", "c"), journal.ProofEnded{Why: "test failed (exit 1), new: c"}},
		"a new one alone":   {named(1, "a"), named(1, "c"), journal.ProofEnded{Why: "test failed (exit 1), new: c"}},
		"no names any more": {named(1, "a"), red("test", 2), journal.ProofEnded{Why: "test failed (exit 2)"}},
		"nothing passes":    {named(0, "a"), named(0, "a"), journal.ProofEnded{Passed: true, Empty: true, Why: "as it was; no test is known to pass"}},
		"tests are gone":    {named(0, "a"), green("test"), journal.ProofEnded{Passed: true, Empty: true, Why: "as it was; no test is known to pass"}},
		"flaky":             {green("test"), flaky, journal.ProofEnded{Passed: true, Why: "as it was; test is flaky: it failed first (exit 2) and passed when run again"}},
	} {
		l, run := &lab{says: []journal.CheckEnded{test.now}}, asked(test.base)
		run.Baseline.Usable = true
		if err := l.prover().Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		test.want.Commit, test.want.Tree = "c1", "t1"
		if diff := cmp.Diff(journal.Event(test.want), l.last()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A check of a proof is run again where it holds the work back; at the base
// nothing is.
func TestWhatIsRunAgain(t *testing.T) {
	run := asked(named(1, "a"), green("lint"))
	var places []proof.Place
	p := (&lab{}).prover()
	p.Check = func(_ context.Context, _ journal.Run, at proof.Place, _ func(journal.Event)) error {
		places = append(places, at)
		return nil
	}
	emit := func(journal.Event) {}
	if err := p.Baseline(t.Context(), run, verdict.Baseline{}, emit); err != nil {
		t.Fatal(err)
	}
	if err := p.Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, emit); err != nil {
		t.Fatal(err)
	}
	if len(places) != 2 || places[0].Again != nil || places[1].Again == nil {
		t.Fatalf("places %+v, want a second run in the proof alone", places)
	}
	if diff := cmp.Diff([]string{"a"}, places[1].Ask("test")); diff != "" || places[0].Ask != nil {
		t.Errorf("asked for at the base %v, in the proof (-want +got):\n%s", places[0].Ask != nil, diff)
	}
	for name, test := range map[string]struct {
		check journal.CheckEnded
		want  bool
	}{
		"green":        {green("lint"), false},
		"red":          {red("lint", 1), true},
		"old failures": {named(1, "a"), false},
		"new failures": {named(1, "b"), true},
	} {
		if got := places[1].Again(test.check); got != test.want {
			t.Errorf("%s: again %v, want %v", name, got, test.want)
		}
	}
}

// A strict baseline runs again what is red, too, and takes none of it.
func TestStrictTakesNoNames(t *testing.T) {
	l, run := &lab{says: []journal.CheckEnded{named(1, "a")}}, asked(named(1, "a"))
	run.Policy.Baseline = policy.BaselineStrict
	if err := l.prover().Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	if ended, is := l.last().(journal.ProofEnded); !is || ended.Passed {
		t.Errorf("ended %+v, want none that passed", l.last())
	}
}

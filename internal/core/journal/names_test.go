package journal_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
)

func TestNamesInWords(t *testing.T) {
	var names []string
	for i := range 7 {
		names = append(names, fmt.Sprintf("t%d", i))
	}
	for want, tests := range map[string]*journal.Tests{
		"":                              nil,
		"t0":                            {Red: names[:1]},
		"t0, t1, t2, t3, t4":            {Red: names[:3], Broken: names[3:5]},
		"t0, t1, t2, t3, t4 and more":   {Red: names[:5], Cut: true},
		"t0, t1, t2, t3, t4 and 1 more": {Red: names[:6]},
		"t0, t1, t2, t3, t4 and 2 more": {Red: names},
	} {
		if tests == nil {
			if tests.Failing() != nil {
				t.Error("no tests have failures")
			}
			continue
		}
		if got := tests.FailureList(); got != want {
			t.Errorf("Told of %d = %q, want %q", len(tests.Failing()), got, want)
		}
	}
}

func TestATryIsWhatTheCheckWas(t *testing.T) {
	tests := &journal.Tests{Passed: 1}
	check := journal.CheckEnded{Name: "test", Exit: 3, TimedOut: true, TookMS: 4, Log: "l", Digest: "d", Tests: tests, Excerpt: "e"}
	want := &journal.Try{Exit: 3, TimedOut: true, TookMS: 4, Log: "l", Digest: "d", Tests: tests}
	if short := (journal.CheckEnded{Exit: 1}).Try(); !cmp.Equal(short, &journal.Try{Exit: 1}) {
		t.Errorf("Try = %+v, want its exit code alone", short)
	}
	if diff := cmp.Diff(want, check.Try()); diff != "" {
		t.Errorf("Try (-want +got):\n%s", diff)
	}
}

func TestWhichProofIsOfATree(t *testing.T) {
	run := minutely(began(), journal.ProofEnded{Why: "of no tree"}, journal.ProofEnded{Tree: "t1", Why: "old"}, journal.ProofEnded{Tree: "t1", Why: "new"}, journal.ProofEnded{Tree: "t2"})
	if proof, found := run.ProofOf("t1"); !found || proof.Why != "new" {
		t.Errorf("ProofOf(t1) = %+v, %v, want the newest", proof, found)
	}
	for _, tree := range []string{"", "t3"} {
		if proof, found := run.ProofOf(tree); found {
			t.Errorf("ProofOf(%q) = %+v, want none", tree, proof)
		}
	}
}

func TestWhichIterationIsWhich(t *testing.T) {
	pass := func(number int) []journal.Event {
		return []journal.Event{journal.IterationBegan{Number: number}, journal.IterationEnded{}}
	}
	run := minutely(append(append(append([]journal.Event{began()}, pass(4)...), pass(5)...), journal.IterationBegan{Number: 6})...)
	if it, open := run.OpenIteration(); !open || it.Number != 6 {
		t.Errorf("Open = %d, %v, want 6", it.Number, open)
	}
	if it, found := run.LastJudged(); !found || it.Number != 5 {
		t.Errorf("Last = %d, %v, want 5, which has a verdict", it.Number, found)
	}
	fresh := minutely(began())
	if _, open := fresh.OpenIteration(); open {
		t.Error("a run that has just begun has an iteration under way")
	}
	if _, found := fresh.LastJudged(); found {
		t.Error("a run that has just begun has a verdict")
	}
}

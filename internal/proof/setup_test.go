package proof_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

func set(name string) journal.SetupEnded { return journal.SetupEnded{Name: name, Passed: true} }

// prepared returns a run whose checkouts have to be made ready, and whose base was
// fit or not.
func prepared(usable bool) journal.Run {
	run := asked(green("test"))
	run.Policy.Setup = policy.NewSetup([]string{"npm ci", "make gen"}, 0)
	if !usable {
		run.BaseChecks, run.Baseline = nil, &journal.BaselineEnded{Why: "setup failed: npm ci (exit 1)"}
	}
	return run
}

// ways are the ways in which setup can go.
var ways = []struct {
	name     string
	sets     []journal.SetupEnded
	why      string // it failed
	setupRan int
}{
	{"all is ready", []journal.SetupEnded{set("npm ci"), set("make gen")}, "", 2},
	{"the first fails", []journal.SetupEnded{{Name: "npm ci", Exit: 1}, set("make gen")}, "setup failed: npm ci (exit 1)", 1},
	{"the second is not there", []journal.SetupEnded{set("npm ci"), {Name: "make gen", Exit: 127, CannotRun: true}}, "setup failed: make gen cannot run here (exit 127)", 2},
	{"it takes for ever", []journal.SetupEnded{{Name: "npm ci", Exit: 143, TimedOut: true}}, "setup failed: npm ci ran out of time", 1},
}

func TestBaselineAfterSetup(t *testing.T) {
	for _, way := range ways {
		l := &lab{says: []journal.CheckEnded{green("test")}, sets: way.sets}
		if err := l.prover().Baseline(t.Context(), prepared(true), verdict.Baseline{}, l.emit); err != nil {
			t.Fatal(err)
		}
		want := journal.BaselineEnded{Usable: way.why == "", Why: way.why}
		l.sawReady(t, way.name, "b0", way.why == "", way.setupRan)
		if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", way.name, diff)
		}
	}
}

func TestProveAfterSetup(t *testing.T) {
	for _, way := range ways {
		for _, usable := range []bool{true, false} {
			l := &lab{says: []journal.CheckEnded{green("test")}, sets: way.sets}
			run := prepared(usable)
			if err := l.prover().Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
				t.Fatal(err)
			}
			want := journal.ProofEnded{Commit: "c1", Tree: "t1", Passed: way.why == "", Empty: !usable, Why: way.why}
			if want.Passed {
				want.Why = run.Baseline.Why
			}
			l.sawReady(t, way.name, "c1", way.why == "", way.setupRan)
			if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
				t.Errorf("%s, usable %v (-want +got):\n%s", way.name, usable, diff)
			}
		}
	}
}

// sawReady tells that setup ran in the checkout of commit, before the checks or
// in their place, that all of it is on record, and that the checkout was given
// back.
func (l *lab) sawReady(t *testing.T, name, commit string, checked bool, setupRan int) {
	t.Helper()
	var dirs []string
	for range setupRan {
		dirs = append(dirs, "clean-"+commit)
	}
	checks := 0
	if checked {
		checks = 1
	}
	if !slices.Equal(l.setIn, dirs) || len(l.dirs) != checks || !slices.Equal(l.back, []string{commit}) {
		t.Errorf("%s: set up in %v, checked in %v, gave back %v", name, l.setIn, l.dirs, l.back)
	}
	if len(l.events) != setupRan+checks+1 {
		t.Errorf("%s: %d events, want %d commands, %d checks and the sum", name, len(l.events), setupRan, checks)
	}
	for _, event := range l.events[:min(setupRan, len(l.events))] {
		if _, is := event.(journal.SetupEnded); !is {
			t.Errorf("%s: %T before setup was done", name, event)
		}
	}
}

// Without checks there is nothing to be ready for; a proof that is reused needs
// no checkout at all.
func TestSetupThatIsNotNeeded(t *testing.T) {
	bare, known := prepared(true), prepared(true)
	bare.Policy.Checks = nil
	known.Proofs = []journal.Proof{{Tree: "t1", Passed: true, Rules: journal.Rules{Checks: known.Policy.Checks, Setup: known.Policy.Setup}}}
	for name, run := range map[string]journal.Run{"no checks": bare, "proven before": known} {
		l := &lab{sets: []journal.SetupEnded{set("npm ci")}}
		if err := l.prover().Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		if ended, is := l.last().(journal.ProofEnded); len(l.setIn) > 0 || !is || !ended.Passed {
			t.Errorf("%s: set up in %v, ended as %+v", name, l.setIn, l.last())
		}
	}
}

// A proof of the same tree by other checks, or after another setup, is none by
// these.
func TestProofsByOtherRulesAreNotReused(t *testing.T) {
	run := prepared(true)
	for name, rules := range map[string]journal.Rules{
		"other checks": {Checks: policy.NewChecks([]string{"other"}, 0), Setup: run.Policy.Setup},
		"other setup":  {Checks: run.Policy.Checks, Setup: policy.NewSetup([]string{"npm ci"}, 0)},
		"no setup":     {Checks: run.Policy.Checks},
	} {
		l := &lab{says: []journal.CheckEnded{green("test")}, sets: []journal.SetupEnded{set("npm ci"), set("make gen")}}
		run.Proofs = []journal.Proof{{Tree: "t1", Passed: true, Rules: rules}}
		if err := l.prover().Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		if ended, is := l.last().(journal.ProofEnded); !is || ended.Reused || !slices.Equal(l.lent, []string{"c1"}) {
			t.Errorf("%s: %+v on %v, want a checkout of c1", name, l.last(), l.lent)
		}
	}
}

// Setup that could not even be tried is no verdict on anybody's work.
func TestBrokenSetupIsNoProof(t *testing.T) {
	broken := errors.New("no space left")
	l := &lab{noSetup: broken, says: []journal.CheckEnded{green("test")}}
	err := l.prover().Prove(t.Context(), prepared(true), verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit)
	if !errors.Is(err, broken) || len(l.events) > 0 || len(l.dirs) > 0 || !slices.Equal(l.back, []string{"c1"}) {
		t.Errorf("Prove = %v, events %v, checked in %v, gave back %v; want the error alone", err, l.events, l.dirs, l.back)
	}
}

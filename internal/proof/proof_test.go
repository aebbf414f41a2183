package proof_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/proof"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// lab lends checkouts that are only names, and has checks say what it is told.
type lab struct {
	says       []journal.CheckEnded // of each check; its place is filled in
	then       []journal.CheckEnded // the second time; the same where there is none
	noCheckout error
	noCheck    error
	sets       []journal.SetupEnded // what setup says, up to the first that fails
	noSetup    error

	lent, back []string // commits
	dirs       []string // where checks ran
	setIn      []string // where setup ran
	events     []journal.Event
}

func (l *lab) emit(event journal.Event) { l.events = append(l.events, event) }

func (l *lab) prover() proof.Prover {
	return proof.Prover{
		Changes: shelf{},
		Checkout: func(_ context.Context, _ journal.Run, commit string) (string, func(), error) {
			if l.noCheckout != nil {
				return "", nil, l.noCheckout
			}
			l.lent = append(l.lent, commit)
			return "clean-" + commit, func() { l.back = append(l.back, commit) }, nil
		},
		Setup: func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			for _, command := range l.sets {
				command.Where, command.Commit = at.Where, at.Commit
				l.setIn = append(l.setIn, at.Dir)
				if emit(command); !command.Passed {
					break
				}
			}
			return l.noSetup
		},
		Check: func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			l.dirs = append(l.dirs, at.Dir)
			says := l.says
			if at.Second && l.then != nil {
				says = l.then
			}
			for _, check := range says {
				if at.Only != nil && !at.Only(check.Name) {
					continue
				}
				check.Where, check.Commit = at.Where, at.Commit
				emit(check)
			}
			return l.noCheck
		},
	}
}

// want tells that checkouts of commit alone were lent, checked and given back,
// or that none was lent.
func (l *lab) want(t *testing.T, commit string) {
	t.Helper()
	var commits, dirs []string
	if commit != "" {
		commits, dirs = []string{commit}, []string{"clean-" + commit}
	}
	if once := slices.Compact[[]string]; !slices.Equal(once(l.lent), commits) || !slices.Equal(once(l.back), commits) || !slices.Equal(once(l.dirs), dirs) {
		t.Errorf("lent %v, given back %v, checked %v; want %v", l.lent, l.back, l.dirs, commits)
	}
}

func (l *lab) last() journal.Event {
	if len(l.events) == 0 {
		return nil
	}
	return l.events[len(l.events)-1]
}

func green(name string) journal.CheckEnded { return journal.CheckEnded{Name: name, Passed: true} }

func red(name string, exit int) journal.CheckEnded { return journal.CheckEnded{Name: name, Exit: exit} }

func late(name string) journal.CheckEnded {
	return journal.CheckEnded{Name: name, Exit: 143, TimedOut: true}
}

func missing(name string) journal.CheckEnded {
	return journal.CheckEnded{Name: name, Exit: 127, CannotRun: true}
}

// asked returns a run with these checks, as they were at the base.
func asked(atBase ...journal.CheckEnded) journal.Run {
	run := journal.Run{Base: "b0", Policy: policy.Policy{Baseline: policy.BaselineNew}}
	usable := false
	for _, check := range atBase {
		run.Policy.Checks = append(run.Policy.Checks, policy.Check{Name: check.Name})
		check.Where = journal.AtBase
		run.BaseChecks = append(run.BaseChecks, check)
		usable = usable || check.Passed
	}
	run.Baseline = &journal.BaselineEnded{Usable: usable, Why: "as it was"}
	return run
}

func TestBaseline(t *testing.T) {
	for name, test := range map[string]struct {
		says []journal.CheckEnded
		want journal.BaselineEnded
	}{
		"green":             {[]journal.CheckEnded{green("test"), green("lint")}, journal.BaselineEnded{Usable: true}},
		"one is red":        {[]journal.CheckEnded{green("test"), red("lint", 2)}, journal.BaselineEnded{Usable: true, Why: "lint was red before (exit 2)"}},
		"all are red":       {[]journal.CheckEnded{red("test", 1)}, journal.BaselineEnded{Why: "test was red before (exit 1)"}},
		"one cannot run":    {[]journal.CheckEnded{missing("test")}, journal.BaselineEnded{Why: "test cannot run here (exit 127)"}},
		"one takes forever": {[]journal.CheckEnded{late("test")}, journal.BaselineEnded{Why: "test ran out of time at the base"}},
		"everything at once": {
			[]journal.CheckEnded{red("a", 1), missing("b"), late("c"), green("d")},
			journal.BaselineEnded{Usable: true, Why: "a was red before (exit 1); b cannot run here (exit 127); c ran out of time at the base"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, run := &lab{says: test.says}, asked(test.says...)
			if err := l.prover().Baseline(t.Context(), run, verdict.Baseline{}, l.emit); err != nil {
				t.Fatal(err)
			}
			l.want(t, "b0")
			if diff := cmp.Diff(journal.Event(test.want), l.last()); diff != "" {
				t.Errorf("Baseline (-want +got):\n%s", diff)
			}
			if len(l.events) != len(test.says)+1 {
				t.Errorf("%d events, want each check and the sum", len(l.events))
			}
			if check := l.events[0].(journal.CheckEnded); check.Where != journal.AtBase || check.Commit != "b0" {
				t.Errorf("checked at %s of %s, want the base", check.Where, check.Commit)
			}
		})
	}
}

func TestBaselineWithoutChecksLendsNothing(t *testing.T) {
	l := &lab{}
	if err := l.prover().Baseline(t.Context(), journal.Run{Base: "b0"}, verdict.Baseline{}, l.emit); err != nil {
		t.Fatal(err)
	}
	l.want(t, "")
	if diff := cmp.Diff(journal.Event(journal.BaselineEnded{Why: "no checks are configured"}), l.last()); diff != "" {
		t.Errorf("Baseline (-want +got):\n%s", diff)
	}
}

func TestProve(t *testing.T) {
	strict := asked(red("test", 1))
	strict.Policy.Baseline = policy.BaselineStrict
	unseen := asked(green("test"))
	unseen.Baseline = nil
	for name, test := range map[string]struct {
		run  journal.Run
		says []journal.CheckEnded
		want journal.ProofEnded
	}{
		"green":                       {asked(green("test")), []journal.CheckEnded{green("test")}, journal.ProofEnded{Passed: true, Why: "as it was"}},
		"red":                         {asked(green("test"), green("lint")), []journal.CheckEnded{red("test", 1), red("lint", 2)}, journal.ProofEnded{Why: "test failed (exit 1), lint failed (exit 2)"}},
		"out of time":                 {asked(green("test")), []journal.CheckEnded{late("test")}, journal.ProofEnded{Why: "test ran out of time"}},
		"red, and was before":         {asked(green("test"), red("lint", 1)), []journal.CheckEnded{green("test"), red("lint", 1)}, journal.ProofEnded{Passed: true, Why: "as it was"}},
		"red, and so is one before":   {asked(green("test"), red("lint", 1)), []journal.CheckEnded{red("test", 1), red("lint", 1)}, journal.ProofEnded{Why: "test failed (exit 1)"}},
		"red, and strict":             {strict, []journal.CheckEnded{red("test", 1)}, journal.ProofEnded{Empty: true, Why: "test failed (exit 1)"}},
		"nothing could show a thing":  {asked(missing("test")), []journal.CheckEnded{missing("test")}, journal.ProofEnded{Passed: true, Empty: true, Why: "as it was"}},
		"nothing was asked for":       {asked(), nil, journal.ProofEnded{Passed: true, Empty: true, Why: "as it was"}},
		"the base was never seen":     {unseen, []journal.CheckEnded{green("test")}, journal.ProofEnded{Passed: true, Empty: true}},
		"a check that did not report": {asked(green("test"), green("lint")), []journal.CheckEnded{green("test")}, journal.ProofEnded{Why: "not every check was run"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &lab{says: test.says}
			want := test.want
			want.Commit, want.Tree = "c1", "t1"
			if err := l.prover().Prove(t.Context(), test.run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
				t.Fatal(err)
			}
			l.want(t, "c1")
			if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
				t.Errorf("Prove (-want +got):\n%s", diff)
			}
			for _, event := range l.events[:len(l.events)-1] {
				if check := event.(journal.CheckEnded); check.Where != journal.AtProof || check.Commit != "c1" {
					t.Errorf("checked at %s of %s, want a proof of c1", check.Where, check.Commit)
				}
			}
		})
	}
}

// A tree that passed is not checked again, and the record says so; one that
// failed is.
func TestProofsAreReused(t *testing.T) {
	for _, test := range []struct {
		old  journal.Proof
		lent string
		want journal.ProofEnded
	}{
		{journal.Proof{Tree: "t1", Passed: true, Why: "lint was red before"}, "", journal.ProofEnded{Passed: true, Reused: true, Why: "lint was red before"}},
		{journal.Proof{Tree: "t1", Passed: true, Empty: true}, "", journal.ProofEnded{Passed: true, Reused: true, Empty: true}},
		{journal.Proof{Tree: "t1"}, "c2", journal.ProofEnded{Passed: true, Why: "as it was"}},
		{journal.Proof{Tree: "t0", Passed: true}, "c2", journal.ProofEnded{Passed: true, Why: "as it was"}},
	} {
		l, run := &lab{says: []journal.CheckEnded{green("test")}}, asked(green("test"))
		test.old.Rules = journal.Rules{Checks: run.Policy.Checks}
		run.Proofs = []journal.Proof{test.old}
		want := test.want
		want.Commit, want.Tree = "c2", "t1"
		if err := l.prover().Prove(t.Context(), run, verdict.Prove{Commit: "c2", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		l.want(t, test.lent)
		if diff := cmp.Diff(journal.Event(want), l.last()); diff != "" {
			t.Errorf("after %+v (-want +got):\n%s", test.old, diff)
		}
	}
}

// When a check cannot be run there is no sum, and the checkout is given back
// all the same.
func TestWhatBreaksIsNoProof(t *testing.T) {
	broken := errors.New("no space left")
	for _, test := range []struct {
		name string
		lab  lab
		lent bool
	}{
		{"no checkout", lab{noCheckout: broken}, false},
		{"no check", lab{noCheck: broken}, true},
		{"no second check", lab{noCheck: broken, says: []journal.CheckEnded{green("test")}}, true},
	} {
		for _, do := range []func(*lab) (string, error){
			func(l *lab) (string, error) {
				return "b0", l.prover().Baseline(t.Context(), asked(green("test")), verdict.Baseline{}, l.emit)
			},
			func(l *lab) (string, error) {
				return "c1", l.prover().Prove(t.Context(), asked(green("test")), verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit)
			},
		} {
			l := test.lab
			commit, err := do(&l)
			if !errors.Is(err, broken) || strings.Contains(fmt.Sprintf("%T", l.last()), "BaselineEnded") || strings.Contains(fmt.Sprintf("%T", l.last()), "ProofEnded") {
				t.Errorf("%s at %s = %v, last event %T; want %v and no sum", test.name, commit, err, l.last(), broken)
			}
			if !test.lent {
				commit = ""
			}
			l.want(t, commit)
		}
	}
}

// A check that the task brought may block a story; alone it proves nothing,
// because the task's author could have written one that always passes.
func TestChecksOfTheTaskProveNothing(t *testing.T) {
	for _, test := range []struct {
		own  bool
		want bool
	}{{false, false}, {true, true}} {
		l := &lab{says: []journal.CheckEnded{{Name: "true", Passed: true}}}
		run := journal.Run{Base: "b0", Policy: policy.Policy{Checks: []policy.Check{{Name: "true", Command: "true", Added: true}}}}
		if test.own {
			l.says = append(l.says, journal.CheckEnded{Name: "test", Passed: true})
			run.Policy.Checks = append(run.Policy.Checks, policy.Check{Name: "test", Command: "make test"})
		}
		if err := l.prover().Baseline(t.Context(), run, verdict.Baseline{}, l.emit); err != nil {
			t.Fatal(err)
		}
		ended, is := l.last().(journal.BaselineEnded)
		if !is || ended.Usable != test.want || !strings.Contains(ended.Why, "true was named by the task itself") {
			t.Errorf("own check %v: %+v, want usable %v and the reason", test.own, ended, test.want)
		}
	}
}

// A check that is limited to paths runs where the change touches one; of a glob that
// cannot be read nothing is known, and the check runs.
func TestSkips(t *testing.T) {
	changed := []string{"web/src/a.js", "README.md"}
	for paths, want := range map[string]bool{
		"": false, "web/**": false, "api/** *.md": false, "api/** docs/*.md": true, "*.js": true, "**/*.js": false, "{web": false,
	} {
		if got := proof.Skips(policy.Check{Paths: paths}, changed); got != want {
			t.Errorf("Skips(%q) = %t, want %t", paths, got, want)
		}
	}
	if !proof.Skips(policy.Check{Paths: "web/**"}, nil) {
		t.Error("a check runs without a change")
	}
}

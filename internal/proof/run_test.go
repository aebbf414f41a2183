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
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

type checking = func(context.Context, journal.Run, proof.Place, func(journal.Event)) error

// and returns a check after which something happens.
func and(check checking, then func()) checking {
	return func(ctx context.Context, run journal.Run, at proof.Place, emit func(journal.Event)) error {
		err := check(ctx, run, at, emit)
		then()
		return err
	}
}

// ends returns the checks of a lab's events, in their order: name, exit, how it was
// the first time, whether that was chance.
func (l *lab) ends() []string {
	var all []string
	for _, event := range l.events {
		if e, is := event.(journal.CheckEnded); is {
			first := ""
			if e.First != nil {
				first = fmt.Sprint(" after ", e.First.Exit)
			}
			all = append(all, fmt.Sprint(e.Name, " ", e.Exit, first, map[bool]string{true: " flaky"}[e.Flaky]))
		}
	}
	return all
}

// What holds a proof back is run once more, in a checkout where it never was:
// what is red there again is no chance.
func TestProveAgain(t *testing.T) {
	lint, test := red("lint", 1), red("test", 3)
	gone := journal.CheckEnded{Name: "test", Exit: 127, CannotRun: true}
	for name, c := range map[string]struct {
		says, then []journal.CheckEnded
		want       []string
		passed     bool
		checkouts  int
	}{
		"green":         {[]journal.CheckEnded{green("lint"), green("test")}, nil, []string{"lint 0", "test 0"}, true, 1},
		"flaky":         {[]journal.CheckEnded{green("lint"), test}, []journal.CheckEnded{green("lint"), green("test")}, []string{"lint 0", "test 0 after 3 flaky"}, true, 2},
		"the first one": {[]journal.CheckEnded{lint, green("test")}, []journal.CheckEnded{green("lint"), test}, []string{"lint 0 after 1 flaky", "test 0"}, true, 2},
		"red anew":      {[]journal.CheckEnded{green("lint"), test}, []journal.CheckEnded{green("lint"), red("test", 4)}, []string{"lint 0", "test 4 after 3"}, false, 2},
		"both":          {[]journal.CheckEnded{lint, test}, []journal.CheckEnded{green("lint"), test}, []string{"lint 0 after 1 flaky", "test 3 after 3"}, false, 2},
		"cannot run":    {[]journal.CheckEnded{green("lint"), gone}, []journal.CheckEnded{green("lint"), green("test")}, []string{"lint 0", "test 127"}, false, 1},
		"not told of":   {[]journal.CheckEnded{green("lint"), test}, []journal.CheckEnded{}, []string{"lint 0", "test 3"}, false, 2},
	} {
		l := &lab{says: c.says, then: c.then}
		if err := l.prover().Prove(t.Context(), asked(green("lint"), green("test")), verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, l.ends()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if ended, is := l.last().(journal.ProofEnded); !is || ended.Passed != c.passed || len(l.lent) != c.checkouts || !slices.Equal(l.lent, l.back) {
			t.Errorf("%s: ended as %+v in %d checkouts, want passed %v in %d", name, l.last(), len(l.lent), c.passed, c.checkouts)
		}
	}
}

// A test runner that fails twice with other cases of a test that failed at the base
// is flaky. That is asked of a runner alone: what follows it in a script did not run.
func TestProveTwiceWithOtherTests(t *testing.T) {
	const first, second = "failed t.py::t[a]\npassed t.py::t[b]", "passed t.py::t[a]\nfailed t.py::t[b]"
	for name, c := range map[string]struct {
		command, first, second string
		passed                 bool
	}{
		"a runner":          {"pytest", first, second, true},
		"the same test":     {"pytest", first, first, false},
		"one did not run":   {"pytest", "failed t.py::t[a]", second, false},
		"one runs no more":  {"pytest", first, "failed t.py::t[b]", false},
		"more than one":     {"pytest && mypy .", first, second, false},
		"a script's runner": {"npm test", first, second, false},
	} {
		runs := 0
		b := &lab{}
		p := b.prover()
		p.Tests = shelf{lists: map[journal.Where]string{journal.AtProof: c.first}}
		p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			runs++
			list := []string{c.first, c.second}[runs-1]
			check, told := judged("c1", list), tally.Parse(list)
			check.Where, check.Command, check.Tests.Asked = at.Where, c.command, map[string]tally.Outcome{}
			for _, name := range at.Ask("test") {
				check.Tests.Asked[name] = told.Of(name)
			}
			emit(check)
			return nil
		}
		if err := p.Prove(t.Context(), asked(failing([]string{"t.py::t[c]"})), verdict.Prove{Commit: "c1", Tree: "t1"}, b.emit); err != nil {
			t.Fatal(err)
		}
		if ended, is := b.last().(journal.ProofEnded); !is || ended.Passed != c.passed || runs != 2 {
			t.Errorf("%s: ended %+v after %d runs, want passed %v", name, b.last(), runs, c.passed)
		}
	}
}

// Of a runner that names the files or packages of its tests, only those of tests that
// failed anew run again. All run again where not all of these fail once more.
func TestOnlyFailedTestsRunAgain(t *testing.T) {
	const one, two = "tests/test_a.py::test_one", "tests/test_b.py::test_two"
	for name, c := range map[string]struct {
		command, runner string
		base            journal.CheckEnded
		all, few, then  []string // what fails in the first run, in that of few tests, and in one of all
		want            []string
		ends            string
	}{
		"red again":        {"pytest -q", "pytest", green("test"), []string{one, two}, []string{one, two}, nil, []string{"", "pytest -q tests/test_a.py tests/test_b.py"}, "test 1 after 1"},
		"green then":       {"pytest", "pytest", green("test"), []string{one}, nil, nil, []string{"", "pytest tests/test_a.py", ""}, "test 0 after 1 flaky"},
		"only one again":   {"pytest", "pytest", green("test"), []string{one, two}, []string{one}, []string{two}, []string{"", "pytest tests/test_a.py tests/test_b.py", ""}, "test 1 after 1"},
		"red before":       {"pytest", "pytest", failing([]string{two}), []string{one, two}, []string{one}, nil, []string{"", "pytest tests/test_a.py"}, "test 1 after 1"},
		"packages":         {"go test ./... -count=1", "go", green("test"), []string{"a.org/x/y.TestOne/b.TestTwo", "a.org/x"}, []string{"a.org/x/y.TestOne/b.TestTwo", "a.org/x"}, nil, []string{"", "go test a.org/x a.org/x/y -count=1"}, "test 1 after 1"},
		"files of scripts": {"npm test", "jest", green("test"), []string{"src/a.test.js > cart > adds"}, []string{"src/a.test.js > cart > adds"}, nil, []string{"", "npm test -- --runTestsByPath src/a.test.js"}, "test 1 after 1"},
		"names alone":      {"npx mocha", "mocha", green("test"), []string{"cart > adds"}, nil, []string{"cart > adds"}, []string{"", ""}, "test 1 after 1"},
		"more than tests":  {"pytest", "pytest", green("test"), []string{one, "the required coverage"}, nil, []string{one}, []string{"", ""}, "test 1 after 1"},
		"more than one":    {"pytest && mypy .", "pytest", green("test"), []string{one}, nil, []string{one}, []string{"", ""}, "test 1 after 1"},
	} {
		l := &lab{}
		p := l.prover()
		p.Tests = shelf{}
		var commands []string
		p.Check = func(_ context.Context, _ journal.Run, at proof.Place, emit func(journal.Event)) error {
			names := c.then
			switch {
			case len(commands) == 0:
				names = c.all
			case at.Commands["test"] != "":
				names = c.few
			}
			commands = append(commands, at.Commands["test"])
			check := failing(names)
			check.Where, check.Command, check.Tests.Runner, check.TookMS = at.Where, c.command, c.runner, 100
			if check.Passed = len(names) == 0; check.Passed {
				check.Exit = 0
			}
			emit(check)
			return nil
		}
		if err := p.Prove(t.Context(), asked(c.base), verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{c.ends}, l.ends()); diff != "" || !slices.Equal(commands, c.want) {
			t.Errorf("%s: ran %q, want %q; ended (-want +got):\n%s", name, commands, c.want, diff)
		}
		var told journal.CheckRuns
		for _, event := range l.events {
			told.Add(event)
		}
		if want := int64(100 * len(commands)); told.TookMS != want {
			t.Errorf("%s: tells of %d ms, want %d", name, told.TookMS, want)
		}
	}
}

// The second checkout is made ready as the first was, which is on record once.
// Where that fails, what was seen before counts.
func TestProveAgainAfterSetup(t *testing.T) {
	l, run := &lab{says: []journal.CheckEnded{red("test", 3)}, sets: []journal.SetupEnded{{Name: "npm ci", Passed: true}}}, asked(green("test"))
	run.Policy.Setup = run.Policy.Checks
	p := l.prover()
	if err := p.Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	sets := slices.DeleteFunc(slices.Clone(l.events), func(e journal.Event) bool { return !strings.HasPrefix(journal.Type(e), "setup") })
	if len(l.setIn) != 2 || len(sets) != 1 {
		t.Errorf("made ready %d times, told of %d; want 2, 1", len(l.setIn), len(sets))
	}
	l.events = nil
	l.sets, l.then = []journal.SetupEnded{{Name: "npm ci", Passed: true}}, []journal.CheckEnded{green("test")}
	p.Check = and(p.Check, func() { l.sets[0].Passed = false })
	if err := p.Prove(t.Context(), run, verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"test 3"}, l.ends()); diff != "" {
		t.Errorf("where it cannot be made ready again (-want +got):\n%s", diff)
	}
}

// A checkout that cannot be had again ends the proof.
func TestProveAgainBreaks(t *testing.T) {
	l := &lab{says: []journal.CheckEnded{red("test", 3)}}
	broken := errors.New("no space left")
	p := l.prover()
	p.Check = and(p.Check, func() { l.noCheckout = broken })
	if err := p.Prove(t.Context(), asked(green("test")), verdict.Prove{Commit: "c1", Tree: "t1"}, l.emit); !errors.Is(err, broken) {
		t.Errorf("Prove = %v, want %v", err, broken)
	}
}

// memory keeps baselines, and remembers what was kept.
type memory struct {
	known, kept []journal.CheckEnded
}

func (m *memory) Known(journal.Run) []journal.CheckEnded { return m.known }

func (m *memory) Keep(_ context.Context, _ journal.Run, checks []journal.CheckEnded) { m.kept = checks }

// A baseline that is known costs no checkout. One that is kept has to be green, with
// nothing else to be said of it.
func TestKnownBaselines(t *testing.T) {
	note := func(p *proof.Prover) {
		check := p.Check
		p.Check = func(ctx context.Context, run journal.Run, at proof.Place, emit func(journal.Event)) error {
			emit(journal.Noted{What: "the check changed tests"})
			return check(ctx, run, at, emit)
		}
	}
	for _, c := range []struct {
		name       string
		says       []journal.CheckEnded
		sets       []journal.SetupEnded
		known      []journal.CheckEnded
		adapt      func(*proof.Prover)
		lent, kept int
	}{
		{name: "unknown", says: []journal.CheckEnded{green("test"), green("lint")}, lent: 1, kept: 2},
		{name: "known", says: []journal.CheckEnded{red("test", 1)}, known: []journal.CheckEnded{green("test")}},
		{name: "red", says: []journal.CheckEnded{green("test"), red("lint", 1)}, lent: 1},
		{name: "setup fails", says: []journal.CheckEnded{green("test")}, sets: []journal.SetupEnded{{Name: "npm ci", Exit: 1}}, lent: 1},
		{name: "with a note", says: []journal.CheckEnded{green("test")}, adapt: note, lent: 1},
	} {
		l, m, run := &lab{says: c.says, sets: c.sets}, &memory{known: c.known}, asked(c.says...)
		run.Policy.Setup = []policy.Check{{Name: "npm ci"}}
		p := l.prover()
		p.Baselines = m
		if c.adapt != nil {
			c.adapt(&p)
		}
		if err := p.Baseline(t.Context(), run, verdict.Baseline{}, l.emit); err != nil {
			t.Fatal(err)
		}
		if len(l.lent) != c.lent || len(m.kept) != c.kept {
			t.Errorf("%s: %d checkouts, %d results kept; want %d and %d", c.name, len(l.lent), len(m.kept), c.lent, c.kept)
		}
		if ended := l.last().(journal.BaselineEnded); ended.Usable != (c.sets == nil) {
			t.Errorf("%s: the baseline is usable: %t", c.name, ended.Usable)
		}
	}
}

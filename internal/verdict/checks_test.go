package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// redAtBase is a run whose check was red at its base with these tests.
func redAtBase(tests *journal.Tests) journal.Run {
	return journal.Run{
		Policy:     policy.Policy{Baseline: policy.BaselineNew, Checks: []policy.Check{{Name: "test"}}},
		BaseChecks: []journal.CheckEnded{{Where: journal.AtBase, Name: "test", Exit: 1, Tests: tests}},
	}
}

func ended(passed int, red ...string) journal.CheckEnded {
	return journal.CheckEnded{Name: "test", Passed: len(red) == 0, Exit: min(len(red), 1), Tests: &journal.Tests{Passed: passed, Red: red}}
}

func TestWhatIsNew(t *testing.T) {
	run := redAtBase(&journal.Tests{Red: []string{"a", "b"}, Broken: []string{"p"}})
	for name, test := range map[string]struct {
		now    journal.CheckEnded
		fresh  []string
		holds  bool
		proves bool
	}{
		"green":      {ended(3), nil, false, true},
		"old":        {ended(1, "a"), nil, false, true},
		"broken now": {ended(1, "p"), nil, false, true},
		"new":        {ended(1, "a", "c", "d"), []string{"c", "d"}, true, true},
		"all red":    {ended(0, "a"), nil, false, false},
		"another":    {journal.CheckEnded{Name: "other", Exit: 1}, nil, true, false},
	} {
		if diff := cmp.Diff(test.fresh, verdict.Fresh(run, test.now)); diff != "" && len(test.fresh)+len(verdict.Fresh(run, test.now)) > 0 {
			t.Errorf("%s: new failures (-want +got):\n%s", name, diff)
		}
		if verdict.Holds(run, test.now) != test.holds || verdict.Proves(run, test.now) != test.proves {
			t.Errorf("%s: holds %v, proves %v; want %v, %v", name, verdict.Holds(run, test.now), verdict.Proves(run, test.now), test.holds, test.proves)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "p"}, verdict.RedBefore(run, "test")); diff != "" {
		t.Errorf("red before (-want +got):\n%s", diff)
	}
	run.Policy.Checks[0].Added = true
	if verdict.Proves(run, ended(3)) {
		t.Error("a check of the task itself proves something")
	}
}

// Green wants every check, and no new failure in any.
func TestGreenByName(t *testing.T) {
	run := redAtBase(&journal.Tests{Red: []string{"a"}})
	for name, test := range map[string]struct {
		checks []journal.CheckEnded
		want   bool
	}{
		"not run": {nil, false},
		"old":     {[]journal.CheckEnded{ended(1, "a")}, true},
		"new":     {[]journal.CheckEnded{ended(1, "b")}, false},
	} {
		if got := verdict.Green(run, test.checks); got != test.want {
			t.Errorf("%s: green %v, want %v", name, got, test.want)
		}
	}
}

// A journal can be odd: a check may be flaky and not say how it ended first.
func TestFirstExit(t *testing.T) {
	for _, test := range []struct {
		check journal.CheckEnded
		want  int
	}{{journal.CheckEnded{Exit: 2, Flaky: true}, 2}, {journal.CheckEnded{First: &journal.Try{Exit: 3}}, 3}} {
		if got := test.check.FirstExit(); got != test.want {
			t.Errorf("FirstExit of %+v = %d, want %d", test.check, got, test.want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	check := ended(1, "a")
	check.Tests.Asked = map[string]tally.Outcome{"b": tally.Passed, "c": tally.Absent}
	for name, want := range map[string]tally.Outcome{"a": tally.Failed, "b": tally.Passed, "c": tally.Absent, "d": tally.Absent} {
		if got := check.Outcome(name); got != want {
			t.Errorf("Outcome(%s) = %q, want %q", name, got, want)
		}
	}
	if got := (journal.CheckEnded{}).Outcome("a"); got != tally.Absent {
		t.Errorf("Outcome without tests = %q", got)
	}
}

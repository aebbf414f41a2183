package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/tally"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// redAtBase returns a run whose check failed at the base with these tests.
func redAtBase(tests *journal.Tests) journal.Run {
	return journal.Run{
		Policy:     policy.Policy{Baseline: policy.BaselineNew, Checks: []policy.Check{{Name: "test"}}},
		BaseChecks: []journal.CheckEnded{{Where: journal.AtBase, Name: "test", Exit: 1, Tests: tests}},
	}
}

func endedCheck(passed int, red ...string) journal.CheckEnded {
	return journal.CheckEnded{Name: "test", Passed: len(red) == 0, Exit: min(len(red), 1), Tests: &journal.Tests{Passed: passed, Red: red}}
}

func TestNewFailures(t *testing.T) {
	run := redAtBase(&journal.Tests{Red: []string{"a", "b"}, Broken: []string{"p"}})
	for name, test := range map[string]struct {
		now    journal.CheckEnded
		fresh  []string
		holds  bool
		proves bool
	}{
		"green":      {endedCheck(3), nil, false, true},
		"old":        {endedCheck(1, "a"), nil, false, true},
		"broken now": {endedCheck(1, "p"), nil, false, true},
		"new":        {endedCheck(1, "a", "c", "d"), []string{"c", "d"}, true, true},
		"all red":    {endedCheck(0, "a"), nil, false, false},
		"another":    {journal.CheckEnded{Name: "other", Exit: 1}, nil, true, false},
	} {
		if diff := cmp.Diff(test.fresh, verdict.NewFailures(run, test.now)); diff != "" && len(test.fresh)+len(verdict.NewFailures(run, test.now)) > 0 {
			t.Errorf("%s: new failures (-want +got):\n%s", name, diff)
		}
		if verdict.BlocksStory(run, test.now) != test.holds || verdict.CanProve(run, test.now) != test.proves {
			t.Errorf("%s: holds %v, proves %v; want %v, %v", name, verdict.BlocksStory(run, test.now), verdict.CanProve(run, test.now), test.holds, test.proves)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "p"}, verdict.FailedAtBase(run, "test")); diff != "" {
		t.Errorf("red before (-want +got):\n%s", diff)
	}
	run.Policy.Checks[0].Added = true
	if verdict.CanProve(run, endedCheck(3)) {
		t.Error("a check that the task added is evidence")
	}
}

// IsGreen requires every check, and no new failure.
func TestIsGreen(t *testing.T) {
	run := redAtBase(&journal.Tests{Red: []string{"a"}})
	for name, test := range map[string]struct {
		checks []journal.CheckEnded
		want   bool
	}{
		"not run": {nil, false},
		"old":     {[]journal.CheckEnded{endedCheck(1, "a")}, true},
		"new":     {[]journal.CheckEnded{endedCheck(1, "b")}, false},
	} {
		if got := verdict.IsGreen(run, test.checks); got != test.want {
			t.Errorf("%s: green %v, want %v", name, got, test.want)
		}
	}
}

// A check that fails twice blocks nothing if each test that failed in one run
// passed in the other, and another case of each test failed at the base.
func TestChanceOfTwoRuns(t *testing.T) {
	twice := func(first, second []string, change func(check *journal.CheckEnded)) journal.CheckEnded {
		check := endedCheck(3, second...)
		was := endedCheck(3, first...)
		check.First = was.Try()
		check.Tests.Asked, check.First.Tests.Asked = map[string]tally.Outcome{}, map[string]tally.Outcome{}
		for _, name := range first {
			check.Tests.Asked[name] = tally.Passed
		}
		for _, name := range second {
			check.First.Tests.Asked[name] = tally.Passed
		}
		if change != nil {
			change(&check)
		}
		return check
	}
	a, b := []string{"t[a]"}, []string{"t[b]"}
	run := redAtBase(&journal.Tests{Red: []string{"old", "t[c]"}})
	for name, test := range map[string]struct {
		check journal.CheckEnded
		holds bool
	}{
		"other tests":            {twice(a, b, nil), false},
		"besides the base's":     {twice(append(a, "old"), append(b, "old"), nil), false},
		"a test that was green":  {twice(a, []string{"u"}, nil), true},
		"another that was green": {twice([]string{"u"}, b, nil), true},
		"the same test": {twice(a, a, func(c *journal.CheckEnded) {
			c.Tests.Asked["t[a]"], c.First.Tests.Asked["t[a]"] = tally.Failed, tally.Failed
		}), true},
		"the first did not run again":     {twice(a, b, func(c *journal.CheckEnded) { c.Tests.Asked["t[a]"] = tally.Absent }), true},
		"the second did not run before":   {twice(a, b, func(c *journal.CheckEnded) { c.First.Tests.Asked = nil }), true},
		"the second was skipped before":   {twice(a, b, func(c *journal.CheckEnded) { c.First.Tests.Asked["t[b]"] = tally.Skipped }), true},
		"something does not build":        {twice(a, b, func(c *journal.CheckEnded) { c.Tests.Broken = []string{"p"} }), true},
		"something did not build":         {twice(a, b, func(c *journal.CheckEnded) { c.First.Tests.Broken = []string{"p"} }), true},
		"there are more":                  {twice(a, b, func(c *journal.CheckEnded) { c.Tests.Cut = true }), true},
		"more failed than have names":     {twice(a, b, func(c *journal.CheckEnded) { c.First.Tests.Failed = 2 }), true},
		"it was killed":                   {twice(a, b, func(c *journal.CheckEnded) { c.Exit = 137 }), true},
		"it ran out of time":              {twice(a, b, func(c *journal.CheckEnded) { c.First.TimedOut = true }), true},
		"nothing failed by name before":   {twice(nil, b, nil), true},
		"nothing failed by name the next": {twice(a, nil, func(c *journal.CheckEnded) { c.Passed, c.Exit = false, 1 }), true},
	} {
		if got := verdict.BlocksStory(run, test.check); got != test.holds {
			t.Errorf("%s: holds %v, want %v", name, got, test.holds)
		}
	}
	run.Policy.Baseline = policy.BaselineStrict
	if !verdict.BlocksStory(run, twice(a, b, nil)) {
		t.Error("a check that failed by chance does not block under a strict baseline")
	}
	check := twice(a, b, nil)
	run.Policy.Checks = []policy.Check{{Name: check.Name, Command: check.Command, Detected: true}}
	if verdict.BlocksStory(run, check) {
		t.Error("a suggested check is strict, although no person required it")
	}
}

// A flaky check in an odd journal may lack the result of its first run.
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
	check := endedCheck(1, "a")
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

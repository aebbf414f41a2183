package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// redAtBase returns a run whose check failed at the base with these tests.
func redAtBase(tests *journal.Tests) journal.Run {
	return journal.Run{
		Policy:     policy.Policy{Baseline: policy.BaselineNew, Checks: []policy.Check{{Name: "test"}}},
		BaseChecks: []journal.CheckEnded{{Where: journal.AtBase, Name: "test", Exit: 1, Tests: tests}},
	}
}

func endedCheck(passed int, red ...string) journal.CheckEnded {
	return journal.CheckEnded{Where: journal.AtHead, Name: "test", Passed: len(red) == 0, Exit: min(len(red), 1), Tests: &journal.Tests{Passed: passed, Red: red}}
}

func TestNewFailures(t *testing.T) {
	run := redAtBase(&journal.Tests{Red: []string{"a", "b"}, Broken: []string{"p"}})
	for name, test := range map[string]struct {
		now  journal.CheckEnded
		want []string
	}{
		"green":      {endedCheck(3), nil},
		"old":        {endedCheck(1, "a"), nil},
		"broken now": {endedCheck(1, "p"), nil},
		"new":        {endedCheck(1, "a", "c", "d"), []string{"c", "d"}},
		"another":    {journal.CheckEnded{Name: "other", Exit: 1}, nil},
	} {
		got := verdict.NewFailures(run, test.now)
		if len(got)+len(test.want) > 0 && !cmp.Equal(test.want, got) {
			t.Errorf("%s: new failures %q, want %q", name, got, test.want)
		}
	}
	if got := verdict.NewFailures(redAtBase(&journal.Tests{Red: []string{"a"}, Cut: true}), endedCheck(1, "b")); got != nil {
		t.Errorf("new failures %q, though more failed at the base", got)
	}
}

// A failure blocks the work, unless the check failed at the base and only the same tests fail now.
func TestBlocks(t *testing.T) {
	red := func(change func(*journal.CheckEnded)) journal.CheckEnded {
		check := endedCheck(1, "a")
		change(&check)
		return check
	}
	same := func(*journal.CheckEnded) {}
	late := func(c *journal.CheckEnded) { c.TimedOut = true }
	gone := func(c *journal.CheckEnded) { c.CannotRun = true }
	cut := func(c *journal.CheckEnded) { c.Tests.Cut = true }
	unnamed := func(c *journal.CheckEnded) { c.Tests = nil }
	green := func(c *journal.CheckEnded) { c.Passed = true }
	more := func(c *journal.CheckEnded) { c.Tests.Red = []string{"a", "b"} }
	inTree := func(change func(*journal.CheckEnded)) func(*journal.CheckEnded) {
		return func(c *journal.CheckEnded) { change(c); c.Where = journal.AtWork }
	}
	for name, test := range map[string]struct {
		base, now func(*journal.CheckEnded)
		want      bool
	}{
		"the same":                        {same, same, false},
		"green now":                       {same, green, false},
		"green at the base":               {green, same, true},
		"one more":                        {same, more, true},
		"one less":                        {more, same, false},
		"out of time now":                 {same, late, true},
		"cannot run now":                  {same, gone, true},
		"no names now":                    {same, unnamed, true},
		"more than have names":            {same, cut, true},
		"not every name at the base":      {cut, same, false},
		"no names at the base":            {unnamed, same, false},
		"out of time at the base":         {late, same, false},
		"could not run at the base":       {gone, same, false},
		"skipped now":                     {green, func(c *journal.CheckEnded) { c.Skipped = "docs/**" }, false},
		"the agent's tree gives no names": {same, inTree(unnamed), false},
		"out of time in the agent's tree": {same, inTree(func(c *journal.CheckEnded) { c.Tests = nil; late(c) }), true},
		"a test by name in the agent's tree is another": {same, inTree(more), true},
	} {
		run := redAtBase(nil)
		run.BaseChecks = []journal.CheckEnded{red(test.base)}
		if got := verdict.BlocksStory(run, red(test.now)); got != test.want {
			t.Errorf("%s: blocks %v, want %v", name, got, test.want)
		}
		run.Policy.Baseline = policy.BaselineStrict
		now := red(test.now)
		if want := !now.Passed && now.Skipped == ""; verdict.BlocksStory(run, now) != want {
			t.Errorf("%s: under a strict baseline it blocks %v", name, !want)
		}
	}
}

// A strict baseline is about the checks that a person required: a detected one that was red before blocks nothing.
func TestMayBlock(t *testing.T) {
	checks := []policy.Check{{Name: "test"}, {Name: "lint", Detected: true}, {Name: "vet", Detected: true}, {Name: "named"}}
	base := []journal.CheckEnded{
		{Name: "test", Exit: 1}, {Name: "lint", Exit: 1}, {Name: "vet", Passed: true}, {Name: "named", Exit: 1, Tests: &journal.Tests{Red: []string{"a"}}},
	}
	for baseline, blocking := range map[policy.Baseline]map[string]bool{
		policy.BaselineNew:    {"test": false, "lint": false, "vet": true, "named": true, "unknown": true},
		policy.BaselineStrict: {"test": true, "lint": false, "vet": true, "named": true, "unknown": true},
	} {
		for name, want := range blocking {
			if got := verdict.MayBlock(policy.Policy{Baseline: baseline, Checks: checks}, base, name); got != want {
				t.Errorf("%s: %s may block: %v, want %v", baseline, name, got, want)
			}
		}
	}
}

// IsGreen requires every check that may block, and no new failure.
func TestIsGreen(t *testing.T) {
	run := redAtBase(&journal.Tests{Red: []string{"a"}})
	run.Policy.Checks = append(run.Policy.Checks, policy.Check{Name: "lint"}, policy.Check{Name: "old"})
	run.BaseChecks = append(run.BaseChecks, journal.CheckEnded{Name: "old", CannotRun: true})
	lint := journal.CheckEnded{Name: "lint", Passed: true}
	for name, test := range map[string]struct {
		checks []journal.CheckEnded
		want   bool
	}{
		"none":           {nil, false},
		"one is missing": {[]journal.CheckEnded{endedCheck(1, "a")}, false},
		"all that block": {[]journal.CheckEnded{endedCheck(1, "a"), lint}, true},
		"a new failure":  {[]journal.CheckEnded{endedCheck(1, "b"), lint}, false},
		"one is red":     {[]journal.CheckEnded{endedCheck(1), {Name: "lint", Exit: 1}}, false},
	} {
		if got := verdict.IsGreen(run, test.checks); got != test.want {
			t.Errorf("%s: green %v, want %v", name, got, test.want)
		}
	}
}

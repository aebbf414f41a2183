package verdict_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// A failure blocks the work, unless the check failed at the base and only the same tests fail now.
func TestBlocks(t *testing.T) {
	red := func(change func(*journal.CheckEnded)) journal.CheckEnded {
		check := journal.CheckEnded{Where: journal.AtHead, Name: "test", Exit: 1, Tests: &journal.Tests{Passed: 1, Red: []string{"a"}}}
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
		run := journal.Run{
			Policy:     policy.Policy{Baseline: policy.BaselineNew, Checks: []policy.Check{{Name: "test"}}},
			BaseChecks: []journal.CheckEnded{red(test.base)},
		}
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

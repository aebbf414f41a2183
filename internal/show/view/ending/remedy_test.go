package ending_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// The result of a check at the base decides what it can prove. Each gap has a remedy, in a
// job and on a laptop.
func TestWhatABaseIsWorth(t *testing.T) {
	green := journal.CheckEnded{Passed: true}
	red := journal.CheckEnded{Exit: 1}
	named := journal.CheckEnded{Exit: 1, Tests: &journal.Tests{Failed: 1, Red: []string{"TestCart"}}}
	for name, c := range map[string]struct {
		said *journal.CheckEnded
		but  func(*policy.Policy)
		want ending.Base
		mend string
	}{
		"not tried": {want: ending.Base{State: "not tried"}},
		"green":     {said: &green, want: ending.Base{State: "green"}},
		"missing": {
			said: &journal.CheckEnded{Exit: 127, CannotRun: true, Excerpt: "hello\nsh: 1: npm: not found\nnpm notice\n"},
			want: ending.Base{State: "cannot start", Gap: "it cannot start (exit 127): sh: 1: npm: not found"},
			mend: "install the program that it starts (`setup` in `.ralph/settings.json` can), or correct its command",
		},
		"missing in a job": {
			said: &journal.CheckEnded{Exit: 126, CannotRun: true}, but: func(p *policy.Policy) { p.Publish = true },
			want: ending.Base{State: "cannot start", Gap: "it cannot start (exit 126)"},
			mend: "install the program that it starts: with `setup`, in your own image, or with `ralph-loop/ralph/host` after setup steps",
		},
		"without packages": {
			said: &journal.CheckEnded{Exit: 127, CannotRun: true, Missing: journal.NodeModules, Excerpt: "sh: 1: mocha: not found\n"},
			want: ending.Base{State: "cannot start", Gap: "it cannot start (exit 127): sh: 1: mocha: not found"},
			mend: "install its packages: `\"setup\": [\"npm ci\"]` in `.ralph/settings.json`",
		},
		"slow": {
			said: &journal.CheckEnded{TimedOut: true, Exit: 143},
			want: ending.Base{State: "out of time", Gap: "it ran out of time"},
			mend: "name a quicker command, or raise its `timeout` in `.ralph/settings.json`",
		},
		"red with names": {said: &named, want: ending.Base{State: "red before", Note: "red before: TestCart; only new failures block a story"}},
		"red with names, strictly": {
			said: &named, but: func(p *policy.Policy) { p.Baseline = policy.BaselineStrict },
			want: ending.Base{State: "red before", Gap: "it fails before any work (exit 1), and `baseline` is strict, so no run starts: TestCart"},
			mend: "fix the check on the base branch first, or let only new failures count: `\"baseline\": \"new\"` in `.ralph/settings.json`",
		},
		"red": {
			said: &red, want: ending.Base{State: "red before", Gap: "it fails before any work (exit 1) and names no failed tests, so it does not count"},
			mend: "fix the check on the base branch first, or use a test runner that names the tests that fail",
		},
		"red without a module": {
			said: &journal.CheckEnded{Exit: 1, Excerpt: "/usr/bin/python3: No module named pytest\n"},
			want: ending.Base{State: "red before", Gap: "it fails before any work (exit 1) and names no failed tests, so it does not count"},
			mend: "install the program that it starts (`setup` in `.ralph/settings.json` can), or correct its command",
		},
		"of the task": {
			said: &green, but: func(p *policy.Policy) { p.Checks[0].Added, p.Publish = true, true },
			want: ending.Base{State: "from the task", Gap: "the task itself names it, so it proves nothing"},
			mend: "name it in the input `checks`, where a review sees it change",
		},
	} {
		run := journal.Run{Policy: policy.Policy{Checks: []policy.Check{{Name: "test"}}, Baseline: policy.BaselineNew}}
		if c.but != nil {
			c.but(&run.Policy)
		}
		if c.said != nil {
			c.said.Name = "test"
			run.BaseChecks = []journal.CheckEnded{*c.said}
		}
		c.want.Remedy = c.mend
		if diff := cmp.Diff(c.want, ending.AtBase(run, "test")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := ending.BaseRemedy(run); got != c.mend {
			t.Errorf("%s: Mend = %q, want %q", name, got, c.mend)
		}
	}
}

// If a check was red from the start and no story has passed, the run's cause is the check,
// not the limit.
func TestRedFromTheStart(t *testing.T) {
	for want, passes := range map[*ending.Cause]bool{ending.RedAtBase: false, ending.Iterations: true} {
		run := journal.Run{
			Plan:       plan.Plan{UserStories: []plan.Story{{ID: "US-001", Passes: passes}}},
			Policy:     policy.Policy{Checks: []policy.Check{{Name: "test"}}, Baseline: policy.BaselineNew},
			Baseline:   &journal.BaselineEnded{Why: "test was red before (exit 2)"},
			BaseChecks: []journal.CheckEnded{{Name: "test", Exit: 2}},
			Stop:       &journal.RunStopped{Reason: policy.MaxIterations, Why: "10 of 10 iterations used"},
		}
		e := ending.Of(run)
		if e.Cause != want || want == ending.RedAtBase && !strings.HasPrefix(e.Fix, "fix the check on the base branch first") {
			t.Errorf("a story passes: %v: Of = %q, %q, want %q", passes, e.Cause, e.Fix, want)
		}
	}
}

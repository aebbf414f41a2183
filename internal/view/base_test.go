package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view"
)

// What a check said at the base is what it is worth, and each gap has its remedy,
// in a job and on a laptop.
func TestWhatABaseIsWorth(t *testing.T) {
	green := journal.CheckEnded{Passed: true}
	red := journal.CheckEnded{Exit: 1}
	named := journal.CheckEnded{Exit: 1, Tests: &journal.Tests{Failed: 1, Red: []string{"TestCart"}}}
	for name, c := range map[string]struct {
		said *journal.CheckEnded
		but  func(*policy.Policy)
		want view.Base
		mend string
	}{
		"not tried": {want: view.Base{State: "not tried"}},
		"green":     {said: &green, want: view.Base{State: "green"}},
		"missing": {
			said: &journal.CheckEnded{Exit: 127, CannotRun: true, Excerpt: "hello\nsh: 1: npm: not found\n"},
			want: view.Base{State: "cannot start", Gap: "it cannot start (exit 127): sh: 1: npm: not found"},
			mend: "install what it starts, mend its command, or bring it by `setup` in `.ralph/settings.json`",
		},
		"missing in a job": {
			said: &journal.CheckEnded{Exit: 126, CannotRun: true}, but: func(p *policy.Policy) { p.Publish = true },
			want: view.Base{State: "cannot start", Gap: "it cannot start (exit 126)"},
			mend: "bring what it starts: by `setup`, an image of your own, or `ralph-loop/ralph/host` after the steps that set it up",
		},
		"slow": {
			said: &journal.CheckEnded{TimedOut: true, Exit: 143},
			want: view.Base{State: "out of time", Gap: "it ran out of time"},
			mend: "name a quicker command, or raise its `timeout` in `.ralph/settings.json`",
		},
		"red with names": {said: &named, want: view.Base{State: "red before", Note: "red before: TestCart; only what fails anew holds a story back"}},
		"red with names, strictly": {
			said: &named, but: func(p *policy.Policy) { p.Baseline = policy.BaselineStrict },
			want: view.Base{State: "red before", Note: "red before: TestCart; no story passes before it is green, as `baseline: strict` has it"},
		},
		"red": {
			said: &red, want: view.Base{State: "red before", Gap: "it is red already (exit 1), and names no tests that fail, so it proves nothing, and holds nothing back"},
			mend: "have it green before the work begins, or have its runner name the tests that fail",
		},
		"of the task": {
			said: &green, but: func(p *policy.Policy) { p.Checks[0].Added, p.Publish = true, true },
			want: view.Base{State: "of the task", Gap: "the task itself names it, so it proves nothing"},
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
		if diff := cmp.Diff(c.want, view.AtBase(run, "test")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got := view.Mend(run); got != c.mend {
			t.Errorf("%s: Mend = %q, want %q", name, got, c.mend)
		}
	}
}

// A checkout that could not be made ready says nothing of the checks.
func TestABaseThatWasNotMadeReady(t *testing.T) {
	run := journal.Run{
		Policy: policy.Policy{Checks: []policy.Check{{Name: "test"}}}, Baseline: &journal.BaselineEnded{Why: "setup failed: npm ci (exit 1)"},
	}
	const want = "have `setup` work on a fresh clone, where nothing lies that is not committed; install what it starts, mend its command, or bring it by `setup` in `.ralph/settings.json`"
	if got := view.Mend(run); got != want {
		t.Errorf("Mend = %q, want %q", got, want)
	}
}

// That nothing will judge the work is in the first comment there is, before an
// agent was asked for anything.
func TestNoCheckIsSaidBeforeAnything(t *testing.T) {
	run := journal.Run{ID: "r1", Vague: true, Policy: policy.Policy{Baseline: policy.BaselineNew, Publish: true}}
	const want = "**Nothing can be verified:** no checks are configured. The pull request will stay a draft. To change that: " +
		"name commands that judge the work: the input `checks`, or `guardrails` in `.ralph/settings.json` of the base."
	if got := view.Cautions(run); got != want {
		t.Errorf("Cautions = %q, want %q", got, want)
	}
	run.Policy.Checks = []policy.Check{{Name: "test"}}
	if got := view.Cautions(run); got != "" {
		t.Errorf("with a check it says %q", got)
	}
}

// What to do about a check that cannot start is said once: where the base is
// looked at, or else where it is tried first.
func TestACheckThatCannotStart(t *testing.T) {
	const remedy = "install what it starts, mend its command, or bring it by `setup` in `.ralph/settings.json`; `ralph doctor --checks` tries it"
	run := journal.Run{Policy: policy.Policy{Checks: []policy.Check{{Name: "lint"}}}}
	missing := journal.CheckEnded{Where: journal.AtWork, Name: "lint", Exit: 127, CannotRun: true}
	for number, want := range []string{" – " + remedy, ""} {
		run.Iterations = append(run.Iterations, journal.Iteration{Number: number + 1, Checks: []journal.CheckEnded{missing}, Ended: &journal.IterationEnded{}})
		if got, want := view.Line(run, missing), "  check lint cannot run (exit 127) in the agent's tree, 0s"+want; got != want {
			t.Errorf("iteration %d: %q, want %q", number+1, got, want)
		}
		if got, want := view.Cautions(run), "`lint` cannot run here (exit 127). To change that: "+remedy+"."; got != want {
			t.Errorf("iteration %d: Cautions = %q, want %q", number+1, got, want)
		}
	}
	based := journal.BaselineEnded{Usable: true, Why: "lint cannot run here (exit 127)"}
	run.Baseline, run.BaseChecks = &based, []journal.CheckEnded{missing, {Name: "test", Passed: true}}
	if got, want := view.Line(run, based), "baseline checked: lint cannot run here (exit 127) – "+remedy; got != want {
		t.Errorf("beside a green one: %q, want %q", got, want)
	}
	run.Iterations = run.Iterations[:1]
	if got, want := view.Line(run, missing), "  check lint cannot run (exit 127) in the agent's tree, 0s"; got != want {
		t.Errorf("after the base: %q, want %q", got, want)
	}
}

package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/prompt"
)

func session(change func(*policy.SessionRules)) journal.Run {
	run := journal.Run{Policy: policy.ForPreset(policy.ByPromise), Task: plan.Task{Body: "Make {marker} and {times}."}}
	change(&run.Policy.Session)
	return run
}

func TestASessionIsToldTheRules(t *testing.T) {
	const work = "- A promise without work is rejected: it counts after "
	for name, c := range map[string]struct {
		change func(*policy.SessionRules)
		limit  int
		want   []string
		not    string
	}{
		"the usual":        {func(*policy.SessionRules) {}, 10, []string{"<promise>DONE</promise>", work + "1 tool call since", ", 10 times at most", "\nMake {marker} and {times}.\n"}, ""},
		"more calls":       {func(r *policy.SessionRules) { r.MinTools = 3 }, 1, []string{work + "3 tool calls since", ", 1 time at most"}, ""},
		"no calls":         {func(r *policy.SessionRules) { r.MinTools = 0 }, 10, nil, work},
		"nothing unfilled": {func(*policy.SessionRules) {}, 10, nil, "{calls}"},
	} {
		run := session(c.change)
		run.Policy.Limits.Iterations = c.limit
		got := prompt.SessionStart(run)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: Enter lacks %q:\n%s", name, want, got)
			}
		}
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: Enter says %q:\n%s", name, c.not, got)
		}
		if got != strings.TrimSpace(got) {
			t.Errorf("%s: white space around %q", name, got)
		}
	}
}

func TestASessionThatGoesOnIsToldWhy(t *testing.T) {
	const (
		ultra     = "ULTRAWORK MODE."
		goOn      = "You attempted to end the loop, but you did not output the completion promise <promise>DONE</promise>."
		rejection = "you must actually complete the task before emitting the promise. (0 of at least 1 tool calls.)"
		task      = "This is time 2 of 10 that you are sent back to work.\n\nOriginal task: Make {marker} and {times}."
	)
	rejected := journal.IterationEnded{Rejected: []journal.Rejection{{Why: "0 of at least 1 tool calls"}}}
	for name, c := range map[string]struct {
		ultra bool
		last  journal.IterationEnded
		want  []string
	}{
		"it said nothing":            {false, journal.IterationEnded{}, []string{goOn, task}},
		"it had not worked":          {false, rejected, []string{rejection, task}},
		"it is to give all it has":   {true, journal.IterationEnded{}, []string{ultra, goOn, task}},
		"and had not worked as well": {true, rejected, []string{ultra, rejection, task}},
	} {
		run := session(func(r *policy.SessionRules) { r.Ultra = c.ultra })
		run.Iterations = []journal.Iteration{{Ended: &journal.IterationEnded{}}, {Number: 1, Ended: &c.last}, {Number: 2}}
		got := prompt.SessionContinue(run)
		parts := strings.SplitN(got, "\n\n", len(c.want))
		if len(parts) != len(c.want) {
			t.Fatalf("%s: Again = %q, want %d parts", name, got, len(c.want))
		}
		for i, want := range c.want {
			if !strings.Contains(parts[i], want) {
				t.Errorf("%s: part %d is %q, want %q in it", name, i, parts[i], want)
			}
		}
		if diff := cmp.Diff(task, parts[len(parts)-1]); diff != "" {
			t.Errorf("%s: the task (-want +got):\n%s", name, diff)
		}
	}
}

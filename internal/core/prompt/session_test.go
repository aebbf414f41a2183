package prompt_test

import (
	"strings"
	"testing"

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
	for calls, want := range map[int][]string{
		1: {"<promise>DONE</promise>", work + "1 tool call since", ", 10 times at most", "\nMake {marker} and {times}.\n"},
		3: {work + "3 tool calls since"},
		0: nil,
	} {
		got := prompt.SessionStart(session(func(r *policy.SessionRules) { r.MinTools = calls }))
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%d calls: no %q in\n%s", calls, part, got)
			}
		}
		if strings.Contains(got, work) != (calls > 0) || strings.Contains(got, "{calls}") {
			t.Errorf("%d calls:\n%s", calls, got)
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
	}
}

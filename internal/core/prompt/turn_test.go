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

// after returns a run by done whose last iteration found these checks.
func after(done policy.Done, ended journal.IterationEnded, checks ...journal.CheckEnded) journal.Run {
	return journal.Run{
		Policy: policy.Policy{Done: done, Word: "DONE", Checks: []policy.Check{
			{Name: "first", Command: "make first", FailAction: policy.Prepend},
			{Name: "test", Command: "make test", Hint: "look at the log"},
			{Name: "all", Command: "make all", FailAction: policy.Replace},
			{Name: "lint", Command: "make lint", FailAction: policy.Append},
		}},
		Iterations: []journal.Iteration{{Number: 1, Checks: checks, Ended: &ended}},
	}
}

func red(name string) journal.CheckEnded {
	return journal.CheckEnded{Where: journal.AtWork, Name: name, Command: "make " + name, Exit: 2, Log: name + ".log", Excerpt: "no " + name}
}

// The words of a failed guardrail, which people's prompts rely on.
func guardrail(name, hint string) string {
	return "Guardrail \"make " + name + "\" failed with exit code 2.\n" + hint + "Output file: " + name + ".log\nOutput (truncated):\nno " + name
}

func TestGuardrailsGoWhereTheyWereAskedFor(t *testing.T) {
	green := journal.CheckEnded{Name: "test", Passed: true}
	first, tested := guardrail("first", ""), guardrail("test", "Hint: look at the log\n")
	all, lint, unknown := guardrail("all", ""), guardrail("lint", ""), guardrail("unknown", "")
	rejected := journal.IterationEnded{Rejected: []journal.Rejection{{Claim: "DONE", Why: "no work was done"}}}
	believed := rejected
	believed.Green = true
	for name, c := range map[string]struct {
		run  journal.Run
		want []string
	}{
		"all green":             {after(policy.ByResponse, journal.IterationEnded{}, green), []string{"the prompt"}},
		"after":                 {after(policy.ByResponse, journal.IterationEnded{}, green, red("lint")), []string{"the prompt", lint}},
		"all at once":           {after(policy.ByResponse, journal.IterationEnded{}, red("lint"), red("all"), red("test"), red("first")), []string{first, all, lint, tested}},
		"of another policy":     {after(policy.ByResponse, journal.IterationEnded{}, red("unknown")), []string{"the prompt", unknown}},
		"a claim without work":  {after(policy.ByResponse, believed, green), []string{"the prompt", `Your answer "DONE" was rejected: no work was done.`}},
		"a claim on red checks": {after(policy.ByResponse, rejected, red("lint")), []string{"the prompt", lint}},
	} {
		got, err := prompt.ForTurn(c.run, prompt.Turn{Number: 2, Base: "the prompt"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Join(c.want, "\n\n"), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestIterationsAreCountedWhereAskedFor(t *testing.T) {
	for want, c := range map[string]struct {
		limit, granted, number int
	}{
		"Iteration 2.":                   {0, 0, 2},
		"Iteration 7 of 9, 2 remaining.": {5, 4, 7},
		"Iteration 6 of 5, 0 remaining.": {5, 0, 6},
	} {
		run := journal.Run{Clock: journal.Clock{Granted: journal.Grant{Iterations: c.granted}}}
		run.Policy.Done, run.Policy.ShowCount, run.Policy.Limits.Iterations = policy.ByResponse, true, c.limit
		got, err := prompt.ForTurn(run, prompt.Turn{Number: c.number, Base: "the prompt"})
		if err != nil || got != want+"\n\nthe prompt" {
			t.Errorf("Of = %q, %v, want %q before the prompt", got, err, want)
		}
	}
}

func intro(of string) string {
	return "\n\n## How this works\n\nThis is iteration 2" + of + ". You start with a fresh context: the work of earlier iterations " +
		"is in the files, and below. When you end, a program runs these checks. All of them must pass:\n\n- `make test`\n\n" +
		"When the task is complete and you have seen the checks pass, say `<promise>DONE</promise>`. Do not say it earlier. " +
		"Without it, or with a failed check, another iteration follows.\n"
}

func TestATaskWithAllThatIsKnown(t *testing.T) {
	bare := journal.Run{Policy: policy.Policy{Done: policy.ByTag, Word: "DONE", Checks: []policy.Check{{Name: "test", Command: "make test"}}}}
	known := bare
	known.Policy.Limits.Iterations = 25
	known.Iterations = []journal.Iteration{{
		Number: 1, Agent: &journal.AgentEnded{Failed: true, Why: "exit\ncode 1"},
		Checks: []journal.CheckEnded{red("test")}, Ended: &journal.IterationEnded{},
	}}
	unclaimed := bare
	unclaimed.Iterations = []journal.Iteration{{Number: 1, Agent: &journal.AgentEnded{}, Ended: &journal.IterationEnded{Green: true, Worked: true}}}
	for name, c := range map[string]struct {
		run  journal.Run
		turn prompt.Turn
		want string
	}{
		"nothing yet": {bare, prompt.Turn{Number: 2, Base: "\nMake a shop.\n\n", Diff: " \n", Progress: "\n"}, "Make a shop." + intro("")},
		"all of it": {
			known,
			prompt.Turn{Number: 2, Base: "Make a shop.", Diff: "+ cart\n", Progress: "\n- 1: red\n"},
			"Make a shop." + intro(" of at most 25") + `
## What the program found after the last iteration

The agent did not end well: exit code 1.

The check ` + "`make test`" + ` failed with exit code 2 on your tree.

` + "```\nno test\n```\n\nThe whole output is in `test.log`." + `


## What has changed since the loop began

` + "```\n+ cart\n```" + `

## The iterations so far

- 1: red
`,
		},
		"green, and nothing was said": {unclaimed, prompt.Turn{Number: 2, Base: "Make a shop."}, "Make a shop." + intro("") + `
## What the program found after the last iteration

The checks are green, but you did not say ` + "`<promise>DONE</promise>`" + `. If the task is complete, say it; if not, go on with it.
`},
	} {
		got, err := prompt.ForTurn(c.run, c.turn)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A project's own prompt for stories keeps its words; what the program knows
// follows them.
func TestAPromptOfTheProjectsOwn(t *testing.T) {
	run := after(policy.ByStories, journal.IterationEnded{})
	run.Plan.UserStories = []plan.Story{{ID: "US-001", Title: "A cart\n# of mine"}}
	run.Policy.Limits.Iterations = 9
	turn := prompt.Turn{Number: 3, Story: "US-001", Base: "\nGo on, $RALPH_ITERATION of $RALPH_MAX_ITERATIONS.\n"}
	const words = "Go on, 3 of 9.\n\n## Your story: US-001 A cart # of mine"
	const found = "\n\n## What the program found after the last iteration\n\nThe check `make lint` failed with exit code 2 on your tree.\n\n```\nno lint\n```\n\nThe whole output is in `lint.log`.\n"
	got, err := prompt.ForTurn(run, turn)
	if err != nil || got != words+"\n" {
		t.Errorf("Of = %q, %v, want %q", got, err, words)
	}
	run.Iterations[0].Checks = []journal.CheckEnded{red("lint")}
	if got, err = prompt.ForTurn(run, turn); err != nil || got != words+found {
		t.Errorf("Of = %q, %v, want %q", got, err, words+found)
	}
}

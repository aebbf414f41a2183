package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/action"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
)

// every is the least time between two edits of a comment: GitHub takes 80
// writes a minute from all that a token does.
const every = 15 * time.Second

type actionCommand struct {
	Explain bool   `help:"Say as JSON what an event means, and do nothing."`
	Event   string `help:"The file with the event, if not the job's own." placeholder:"FILE"`
	Name    string `help:"And the event's name, such as issue_comment."`
	Finish  bool   `help:"Have the last word for a job that was killed: a step with if: always()."`
}

// Help shows where the command belongs.
func (actionCommand) Help() string {
	return `Example, as a step of a workflow:

  steps:
    - uses: ralph-loop/ralph@v1
      with:
        anthropic-api-key: ${{ secrets.ANTHROPIC_API_KEY }}

Why did nothing start?

  ralph action --explain --event event.json --name issue_comment`
}

func (c actionCommand) guarded() bool { return !c.Explain }

func (actionCommand) restart() string {
	return "go on with it: the same event once more; what was done is kept"
}

func (c actionCommand) run(ctx context.Context, w world) (int, error) {
	env, err := action.Handed(w.env)
	if err != nil {
		return 0, err
	}
	w.env = env
	if c.Explain {
		return c.explain(w)
	}
	self, err := executable()
	if err != nil {
		return 0, err
	}
	a := action.Action{
		Getenv: w.env, Out: w.stdout, Now: w.now, Exec: w.runner.Run, Hard: w.runner.Hard, Self: self, Version: version, Every: w.every, Pace: w.pace,
	}
	if c.Finish {
		return fault.ExitDone, a.Finish(ctx)
	}
	result, err := a.Do(ctx)
	if err != nil {
		return 0, err
	}
	return result.Exit(config.FailOn(w.env("INPUT_FAIL-ON"))), nil
}

func executable() (string, error) {
	self, err := osExecutable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return self, nil
}

// explain is for those who wonder why nothing started. The inputs are read as
// in a job: INPUT_LABEL and so on.
func (c actionCommand) explain(w world) (int, error) {
	said, err := action.Action{Getenv: c.instead(w.env), Out: w.stderr, Now: w.now}.Explain()
	if err != nil {
		return 0, err
	}
	return fault.ExitDone, printJSON(w.stdout, said)
}

// instead has flags go before the environment.
func (c actionCommand) instead(env func(string) string) func(string) string {
	return func(name string) string {
		switch name {
		case "GITHUB_EVENT_PATH":
			return cmp.Or(c.Event, env(name))
		case "GITHUB_EVENT_NAME":
			return cmp.Or(c.Name, env(name))
		}
		return env(name)
	}
}

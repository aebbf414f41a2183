package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/action"
	"github.com/ralph-loop/ralph/internal/config"
)

// every is the least time between two edits of a comment: GitHub takes 80
// writes a minute from all that a token does.
const every = 15 * time.Second

type actionCommand struct{}

// Help shows where the command belongs.
func (actionCommand) Help() string {
	return `Example, as a step of a workflow:

  steps:
    - uses: ralph-loop/ralph@v1
      with:
        anthropic-api-key: ${{ secrets.ANTHROPIC_API_KEY }}`
}

func (actionCommand) guarded() bool { return true }

func (actionCommand) restart() string {
	return "go on with it: the same event once more; what was done is kept"
}

func (actionCommand) run(ctx context.Context, w world) (int, error) {
	self, err := executable()
	if err != nil {
		return 0, err
	}
	result, err := action.Action{
		Getenv: w.env, Out: w.stdout, Now: w.now, Exec: w.runner.Run, Hard: w.runner.Hard, Self: self, Version: version, Every: every,
	}.Do(ctx)
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

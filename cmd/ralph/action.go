//go:build !windows

package main

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/entry/action"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// every is the least time between edits of a comment: GitHub allows 80 writes a minute for each token.
const every = 15 * time.Second

type actionCommand struct {
	Finish bool `help:"Finish the progress comment of a killed job, in a step with if: always()."`
}

func (c actionCommand) run(ctx context.Context, w world) (int, error) {
	env, err := action.Handed(w.Getenv)
	if err != nil {
		return 0, err
	}
	w.Getenv = env
	a := action.Action{
		Getenv:  w.Getenv,
		Inputs:  action.Inputs(w.Environ()),
		Out:     w.Stdout,
		Now:     w.Now,
		Exec:    w.Runner.Run,
		Hard:    w.Runner.Hard,
		Self:    w.Self,
		Version: version,
		Every:   w.every,
		Pace:    w.pace,
	}
	if c.Finish {
		return fault.ExitDone, a.Finish(ctx)
	}
	outcome, failOn, err := a.Do(ctx)
	if err != nil {
		return 0, err
	}
	return action.Exit(outcome, failOn), nil
}

//go:build !windows

package main

import (
	"cmp"
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/entry/action"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// every is the least time between edits of a comment: GitHub allows 80 writes a minute for each token.
const every = 15 * time.Second

type actionCommand struct {
	Explain bool   `help:"Print as JSON what ralph would do for an event, and do nothing."`
	Event   string `help:"File with the event (default: the job's event)." placeholder:"FILE"`
	Name    string `help:"Name of the event, such as issue_comment (default: the job's)."`
	Finish  bool   `help:"Finish the progress comment of a killed job, in a step with if: always()."`
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
	if c.Explain {
		a.Getenv = c.withEvent(w.Getenv)
		a.Out = w.Stderr
		explanation, err := a.Explain()
		if err != nil {
			return 0, err
		}
		return fault.ExitDone, clean.JSON(w.Stdout, explanation)
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

func (c actionCommand) withEvent(env func(string) string) func(string) string {
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

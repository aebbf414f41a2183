//go:build !windows

package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/ralph-loop/ralph/internal/entry/action"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/demo"
	"github.com/ralph-loop/ralph/internal/testsupport/scripted"
)

type demoCommand struct {
	Dir  string `help:"Directory for the demo's files (default: a new temporary one)." type:"path"`
	Keep bool   `help:"Keep the repositories too, not only the journal."`
	JSON bool   `name:"json" help:"Print the result as one JSON object."`
}

func (c demoCommand) run(ctx context.Context, w world) (int, error) {
	dir, err := demo.Folder(c.Dir)
	if err != nil {
		return 0, fault.Usage("cannot make the demo's folder", "name a writable, empty one with --dir", err)
	}
	var out io.Writer
	if !c.JSON {
		out = w.Stdout
	}
	began := w.Now()
	shown, err := demo.Demo{
		Dir:     dir,
		Keep:    c.Keep,
		Self:    w.Self,
		Version: version,
		Getenv:  w.PathOutside(dir).Getenv,
		Now:     w.Now,
		Exec:    w.Runner.Run,
		Log:     w.Stderr,
		Every:   200 * time.Millisecond,
		Out:     out,
	}.Play(ctx)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		err = laptop.PrintResult(w.Stdout, shown.Outcome.Run, shown.Outcome.Home)
	} else {
		err = shown.Print(w.Stdout, demo.Name(w.Self, w.Environ()), c.Keep, w.Now().Sub(began))
	}
	return action.Exit(shown.Outcome, config.FailOnStopped), err
}

// scriptedCommand is the agent of tests and the demo. It runs as a child of ralph.
type scriptedCommand struct {
	File string `arg:"" help:"Script to play."`
}

func (c scriptedCommand) run(ctx context.Context, w world) (int, error) {
	stage := scripted.Stage{Name: c.File, Prompt: w.Stdin, Out: w.Stdout, Run: w.Runner.Run, Env: os.Environ()}
	return scripted.Start(ctx, stage, w.Getenv)
}

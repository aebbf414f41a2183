//go:build !windows

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/scripted"
)

// scriptedCommand is the scripted agent. It runs as a child of ralph, as any
// agent does, and that ralph sees to it that nothing outlives it.
type scriptedCommand struct {
	File string `arg:"" help:"The script."`
}

func (c scriptedCommand) run(ctx context.Context, w world) (int, error) {
	script, err := os.ReadFile(c.File)
	if err != nil {
		return 0, fault.Usage("cannot read the script", "name the script's file in agent-args", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, fmt.Errorf("find the working directory: %w", err)
	}
	iteration, err := strconv.Atoi(w.Getenv("RALPH_ITERATION"))
	if err != nil {
		return 0, fault.Usage("RALPH_ITERATION is not a number", "let ralph start the scripted agent", err)
	}
	return scripted.Play(ctx, scripted.Stage{
		Name: c.File, Script: script, Iteration: iteration, Story: w.Getenv("RALPH_STORY"), Dir: dir,
		Prompt: w.Stdin, Out: w.Stdout, Run: w.Runner.Run, Env: os.Environ(),
	})
}

package main

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/view"
)

type statusCommand struct {
	ProjectDir string `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	ID         string `arg:"" optional:"" name:"run" help:"The run; the newest one when not given."`
	Follow     bool   `help:"Go on until the run has stopped."`
	JSON       bool   `name:"json" help:"Print the result as one JSON object."`
}

// Help gives the example.
func (statusCommand) Help() string { return "Example: ralph status --follow" }

func (statusCommand) guarded() bool { return false }

func (c statusCommand) run(ctx context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	home, run, err := c.runs().Find(c.ID)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		tree, err := c.runs().Worktree(ctx, w.World, run)
		if err != nil {
			return 0, err
		}
		return fault.ExitDone, laptop.PrintResult(w.Stdout, run, home, tree)
	}
	if !c.Follow {
		text := view.Text(run)
		if run.Stop == nil && c.runs().Abandoned(run) {
			text += laptop.AbandonedText(run) + "\n"
		}
		_, err = fmt.Fprint(w.Stdout, clean.LogLines(text))
		return fault.ExitDone, err
	}
	return fault.ExitDone, c.runs().Follow(ctx, w.World, home, run)
}

func (c statusCommand) runs() laptop.Runs { return laptop.Runs{Project: c.ProjectDir} }

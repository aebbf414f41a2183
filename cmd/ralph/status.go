package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
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
	home, run, err := c.find()
	if err != nil {
		return 0, err
	}
	if c.JSON {
		return fault.ExitDone, printResult(w.stdout, run, home)
	}
	if !c.Follow {
		_, err = fmt.Fprint(w.stdout, view.Text(run))
		return fault.ExitDone, err
	}
	return fault.ExitDone, c.follow(ctx, w, home)
}

// find is the run to tell of, as its journal has it now.
func (c statusCommand) find() (workspace.Run, journal.Run, error) {
	var found journal.Run
	home, _ := workspace.FolderAbove(c.ProjectDir).Unfinished(func(run journal.Run) bool {
		found = run
		return c.ID == "" || c.ID == run.ID
	})
	if home.ID == "" {
		return home, found, fault.Usage("there is no run here", "begin one: ralph run", nil)
	}
	return home, found, nil
}

// glance is how often a run that goes on elsewhere is looked at.
const glance = 200 * time.Millisecond

// follow prints what happens in a run, until it has stopped.
func (c statusCommand) follow(ctx context.Context, w world, home workspace.Run) error {
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for seen := 0; ; {
		entries, err := home.Entries()
		if err != nil {
			return err
		}
		run := journal.Fold(journal.Run{}, entries[:seen]...)
		for _, entry := range entries[seen:] {
			run = journal.Fold(run, entry)
			if line := view.Line(run, entry.Event); line != "" {
				fmt.Fprintln(w.stdout, line)
			}
		}
		seen = len(entries)
		if run.Stop != nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

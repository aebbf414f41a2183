package main

import (
	"context"
	"fmt"

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
		tree, err := c.worktree(ctx, w, run)
		if err != nil {
			return 0, err
		}
		return fault.ExitDone, printResult(w.stdout, run, home, tree)
	}
	if !c.Follow {
		text := view.Text(run)
		if run.Stop == nil && c.abandoned(run) {
			text += abandoned(run) + "\n"
		}
		_, err = fmt.Fprint(w.stdout, harmless(text))
		return fault.ExitDone, err
	}
	return fault.ExitDone, c.follow(ctx, w, home, run)
}

// worktree is where the work of run lies, if it has a worktree.
func (c statusCommand) worktree(ctx context.Context, w world, run journal.Run) (string, error) {
	if !run.Policy.Linked() {
		return "", nil
	}
	tool, done, err := w.git(c.ProjectDir)
	if err != nil {
		return "", err
	}
	defer done()
	place, err := tool.Inspect(ctx, c.ProjectDir)
	if err != nil {
		return "", err
	}
	tree, err := worktreeOf(ctx, tool, &place, run)
	return tree.Dir, err
}

// find is the run to tell of, as its journal has it now.
func (c statusCommand) find() (workspace.Run, journal.Run, error) {
	var found journal.Run
	if err := workspace.Stands(c.ProjectDir, "-d"); err != nil {
		return workspace.Run{}, found, err
	}
	folder := workspace.FolderAbove(c.ProjectDir)
	if err := folder.Readable(c.ID); err != nil {
		return workspace.Run{}, found, err
	}
	home, _ := folder.Unfinished(func(run journal.Run) bool {
		found = run
		return c.ID == "" || c.ID == run.ID
	})
	switch {
	case home.ID == "" && c.ID != "":
		return home, found, fault.Usage("there is no run "+c.ID, "see .ralph/runs, or leave it out: ralph status tells of the newest", nil)
	case home.ID == "":
		return home, found, fault.Usage("there is no run here", "begin one: ralph run", nil)
	}
	return home, found, nil
}

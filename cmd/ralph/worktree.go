package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
)

type worktreeCommand struct {
	Clean worktreeCleanCommand `cmd:"" help:"Take away the worktrees that runs with --worktree have left."`
}

// Help gives the example.
func (worktreeCommand) Help() string { return "Example: ralph worktree clean" }

type worktreeCleanCommand struct {
	ProjectDir string `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
}

// Help gives the example.
func (worktreeCleanCommand) Help() string {
	return `One with uncommitted work is kept, and so is a branch that is not merged yet into
the one that is checked out.

Example: ralph worktree clean`
}

func (worktreeCleanCommand) guarded() bool { return false }

func (c worktreeCleanCommand) run(ctx context.Context, w world) (int, error) {
	tool, done, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	defer done()
	place, err := tool.Inspect(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	release, err := alone(place.Top)
	if err != nil {
		return 0, err
	}
	defer release() //nolint:errcheck // nothing was written through it
	return c.clean(ctx, w, tool, place)
}

// clean takes away what it can, and tells of all of it.
func (worktreeCleanCommand) clean(ctx context.Context, w world, tool git.Git, place git.Place) (int, error) {
	all, err := tool.Worktrees(ctx, place)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		fmt.Fprintln(w.Stderr, "there is no worktree to take away")
	}
	code := fault.ExitDone
	for _, tree := range all {
		merged, err := tool.RemoveWorktree(ctx, place, tree)
		name := filepath.Base(tree.Dir)
		switch {
		case err != nil:
			code = report(w.Stderr, err)
		case merged || tree.Branch == "":
			fmt.Fprintln(w.Stdout, "removed", name, tree.Branch)
		default:
			fmt.Fprintf(w.Stdout, "removed %s; its branch is kept: git merge %s\n", name, tree.Branch)
		}
	}
	return code, nil
}

package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
)

// link makes the worktree for a run that wants one, and has it begin there.
func (d *desk) link(ctx context.Context, j *job.Job, asked job.Asked) (job.Asked, error) {
	if !asked.Policy.Linked() {
		return asked, nil
	}
	made, err := d.tool.AddWorktree(ctx, *d.place, asked.Branch)
	if err != nil {
		return asked, err
	}
	asked.Branch = made.Branch
	if err := d.move(ctx, j, made); err != nil {
		return asked, err
	}
	standing, err := j.Own.Look(ctx)
	asked.Work = standing.Work
	return asked, err
}

// rejoin has a run that goes on do so in its worktree.
func (d *desk) rejoin(ctx context.Context, j *job.Job, run journal.Run) error {
	if !run.Policy.Linked() {
		return nil
	}
	found, err := worktreeOf(ctx, d.tool, d.place, run)
	if err != nil {
		return err
	}
	if found.Dir == "" {
		return fault.Usage("the worktree of the run is gone, in which "+run.Branch+" was checked out",
			"bring it back: git worktree add .ralph-worktree "+run.Branch, nil)
	}
	return d.move(ctx, j, found)
}

// move makes a worktree the place where the agent works.
func (d *desk) move(ctx context.Context, j *job.Job, to git.Worktree) error {
	place, err := d.tool.Inspect(ctx, to.Dir)
	if err != nil {
		return err
	}
	j.Own, err = d.tool.Own(ctx, place)
	return err
}

// worktreeOf is where the work of a run lies; nowhere when it has no worktree,
// or has it no more.
func worktreeOf(ctx context.Context, tool git.Git, at *git.Place, run journal.Run) (git.Worktree, error) {
	if at == nil || !run.Policy.Linked() {
		return git.Worktree{}, nil
	}
	all, err := tool.Worktrees(ctx, *at)
	for _, w := range all {
		if w.Branch == run.Branch {
			return w, nil
		}
	}
	return git.Worktree{}, err
}

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
	tool, done, err := w.soundGit(ctx)
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
		fmt.Fprintln(w.stderr, "there is no worktree to take away")
	}
	code := fault.ExitDone
	for _, tree := range all {
		merged, err := tool.RemoveWorktree(ctx, place, tree)
		name := filepath.Base(tree.Dir)
		switch {
		case err != nil:
			code = report(w.stderr, err)
		case merged || tree.Branch == "":
			fmt.Fprintln(w.stdout, "removed", name, tree.Branch)
		default:
			fmt.Fprintf(w.stdout, "removed %s; its branch is kept: git merge %s\n", name, tree.Branch)
		}
	}
	return code, nil
}

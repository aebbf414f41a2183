//go:build !windows

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/box"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/run/job"
)

type undoCommand struct{ laptop.ShownRun }

func (c undoCommand) run(ctx context.Context, w world) (int, error) {
	home, run, err := c.Find(w.World)
	if err != nil {
		return 0, err
	}
	if run.Box.Delivered == nil {
		return 0, fault.Usage("the run "+run.ID+" delivered nothing here",
			"it worked in the folder itself, or changed nothing: see git status, or name another run of .ralph/runs",
			nil)
	}
	top := filepath.Join(home.Project(), run.Worktree)
	release, err := lockRuns(home.Project())
	if err != nil {
		return 0, err
	}
	defer release() //nolint:errcheck // nothing was written through it
	tool, place, err := placeOfRun(ctx, w, top, run)
	if err != nil {
		return 0, err
	}
	done, err := box.Box{User: top, Before: home.File(job.BeforeFolder)}.Undo(ctx)
	for _, left := range done.Left {
		fmt.Fprintf(w.Stderr, "ralph: not taken back: %s: %s\n", clean.LogLine(left.Path), left.Why)
	}
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(w.Stdout, "files taken back: %d\n", len(done.Paths))
	if run.Box.Delivered.Head == run.Start || run.Box.Delivered.Branch != "" {
		return fault.ExitDone, nil
	}
	last, err := lastCommit(ctx, place, run)
	if err != nil {
		return 0, err
	}
	if err := git.CheckSHA(run.Start, last); err != nil { // a journal has them
		return 0, err
	}
	changes, err := git.Compare(ctx, place.Do, git.Span{From: run.Start, To: last})
	if err != nil {
		return 0, err
	}
	paths := git.Paths(changes)
	moved, err := tool.Advance(ctx, place, git.Advance{Branch: run.Branch, From: last, To: run.Start, Paths: paths})
	if err != nil {
		return 0, err
	}
	if moved {
		fmt.Fprintf(w.Stdout, "%s is at %.7s again\n", run.Branch, run.Start)
	} else {
		fmt.Fprintf(w.Stdout, "the commits stay: %s has moved since\n", run.Branch)
	}
	return fault.ExitDone, nil
}

// placeOfRun returns the repository in which a run's branch is checked out; another branch's files stay as they are.
// It is empty if the run had no repository.
func placeOfRun(ctx context.Context, w world, top string, run journal.Run) (git.Git, git.Place, error) {
	if run.Branch == "" {
		return git.Git{}, git.Place{}, nil
	}
	tool, err := w.SoundGit(ctx, top)
	if err != nil {
		return tool, git.Place{}, err
	}
	place, err := tool.Inspect(ctx, top)
	if err != nil {
		return tool, place, err
	}
	if place.Branch != run.Branch {
		what := fmt.Sprintf("the run worked on the branch %s, and %s is checked out", run.Branch, place.Branch)
		return tool, place, fault.Usage(what, "git switch "+shell.Quote(run.Branch)+", then: ralph undo", nil)
	}
	return tool, place, nil
}

// lastCommit returns the commit that a run delivered last, or ralph's commit of the PRD on top of it.
func lastCommit(ctx context.Context, place git.Place, run journal.Run) (string, error) {
	last := run.Box.Delivered.Head
	head, err := place.Ask(ctx, "show", "-s", "--format=%P %(trailers:key=Ralph-Run,valueonly)", place.Head)
	if err != nil || strings.TrimSpace(head) != last+" "+run.ID {
		return last, err
	}
	changes, err := git.Compare(ctx, place.Do, git.Span{From: last, To: place.Head})
	if err != nil {
		return last, err
	}
	memory := workspace.Memory{Dir: run.Policy.Memory}
	for _, name := range git.Paths(changes) {
		if !slices.Contains(memory.Files(), name) { // the user amended it
			return last, nil
		}
	}
	return place.Head, nil
}

//go:build !windows

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/entry/scaffold"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type archiveCommand struct {
	ProjectDir string `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory with ralph/prd.json (default: current directory)."`
	RalphDir   string `placeholder:"DIR" help:"Directory of prd.json and progress.txt in the project (default: ralph)."`
	Label      string `short:"l" placeholder:"TEXT" help:"Name of the archive (default: the PRD's branch)."`
}

func (c archiveCommand) run(ctx context.Context, w world) (int, error) {
	tool, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	if err := workspace.FindFolder(c.ProjectDir).CheckUnlocked(); err != nil {
		return 0, err
	}
	place, err := tool.Inspect(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	if err := place.Clean(); err != nil {
		return 0, err
	}
	dir, err := workspace.MemoryPath(c.ProjectDir, c.RalphDir)
	if err != nil {
		return 0, err
	}
	memory := workspace.Memory{Tree: c.ProjectDir, Dir: filepath.ToSlash(dir)}
	loop, err := workspace.ReadLoop(memory)
	if err != nil {
		return 0, err
	}
	release, err := lockRuns(place.Top)
	if err != nil {
		return 0, err
	}
	defer release() //nolint:errcheck // nothing was written through it
	archived, err := c.putAway(place, memory, loop, w.Now())
	if err != nil {
		return 0, err
	}
	return fault.ExitDone, c.commit(ctx, w, tool, archived)
}

// lockRuns keeps runs from starting. Before its first run a project needs no lock.
func lockRuns(top string) (release func() error, err error) {
	folder := filepath.Join(top, ".ralph")
	if _, err := os.Lstat(filepath.Join(folder, "runs")); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	return workspace.Folder{Path: folder}.Lock()
}

type archived struct {
	view.Archive
	place  git.Place
	memory workspace.Memory
	folder string // of the archive
}

func (c archiveCommand) putAway(
	place git.Place,
	memory workspace.Memory,
	loop workspace.Loop,
	now time.Time,
) (archived, error) {
	label := cmp.Or(c.Label, strings.TrimPrefix(loop.Plan.BranchName, "ralph/"), loop.Plan.Project, "loop")
	archive := view.Archive{Name: label, Plan: loop.Plan, Started: loop.Started(), Date: now.Format(time.DateOnly)}
	folder := workspace.Folder{Path: filepath.Join(place.Top, ".ralph")}
	home, run := folder.Newest(func(run journal.Run) bool {
		return run.Plan.SharesStory(loop.Plan) && len(run.Iterations) > 0
	})
	if home.ID != "" {
		archive.Run = &run
	}
	fresh, err := scaffold.Beginning{Project: loop.Plan.Project, Memory: memory, Now: now}.NewFiles()
	if err != nil {
		return archived{}, err
	}
	name := archive.Date + "-" + plan.Slug(label, 60)
	to, err := loop.Archive(name, []byte(archive.Summary()), fresh)
	return archived{Archive: archive, place: place, memory: memory, folder: to}, err
}

func (c archiveCommand) commit(ctx context.Context, w world, tool git.Git, a archived) error {
	within, err := filepath.Rel(a.place.Top, c.ProjectDir)
	if err != nil {
		return err
	}
	commit := git.PathCommit{Message: git.Message{Subject: "chore: archive " + a.folder}}
	for _, file := range append([]string{a.folder}, a.memory.Files()...) {
		commit.Paths = append(commit.Paths, filepath.ToSlash(filepath.Join(within, file)))
	}
	sha, err := tool.Commit(ctx, a.place, commit)
	if err != nil {
		return fault.Usage(a.folder+" is written, but could not be committed",
			"commit it yourself: git add --all "+path.Dir(a.memory.PromptFile())+" ralph-archive && git commit", err)
	}
	if sha == a.place.Head {
		return a.print(w, "not committed: git ignores it")
	}
	return a.print(w, "committed as "+sha[:min(len(sha), 7)])
}

// print prints what was archived, and whether it was committed.
func (a archived) print(w world, outcome string) error {
	_, err := fmt.Fprintf(w.Stdout,
		"archived %d of %s in %s, %s\nnext: fill in %s for the next feature, then: ralph run\n",
		a.Done(), view.Plural(len(a.Plan.UserStories), "story"), a.folder, outcome, a.memory.Files()[0])
	return err
}

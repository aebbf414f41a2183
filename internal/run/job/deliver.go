package job

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/box/box"
	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// HeldRef is the ref of the user's repository that keeps the commits of a run.
func HeldRef(id string) string { return "refs/ralph/" + id }

// BeforeFolder is the folder in a run's own with the user's files as they were before their delivery.
const BeforeFolder = "before"

func (s *trees) box() box.Box {
	return box.Box{
		User:   s.Box.Top,
		Dir:    filepath.Join(s.work, "tree"),
		Before: s.home.File(BeforeFolder),
		Record: s.home.File("delivered.json"),
		Upper:  filepath.Join(s.work, "layers"),
	}
}

// fillBox makes the agent's folder equal to the user's.
func (s *trees) fillBox(ctx context.Context, dir string) error {
	b := s.box()
	b.Dir = dir
	var memory []string
	run := s.Run()
	if run.Policy.Done == policy.ByStories {
		memory = workspace.Memory{Dir: memoryDir(run)}.Files()
	}
	if err := s.Box.fill(ctx, b, s.Sandbox, memory...); err != nil {
		return err
	}
	return workspace.MarkBox(filepath.Dir(s.Folder.Path), dir)
}

// boxFolder makes the agent's folder where there is no repository.
func (s *trees) boxFolder(ctx context.Context) (string, error) {
	dir := s.box().Dir
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	young := dir + ".new"
	if err := s.makeEmptyDir(ctx, young); err != nil {
		return "", err
	}
	if err := s.fillBox(ctx, young); err != nil {
		return "", err
	}
	return dir, os.Rename(young, dir)
}

// deliver brings the work to the user's folder: files by their three versions, and commits if the user's branch is
// still where they begin.
func (s *trees) deliver(ctx context.Context, run journal.Run, emit emit) error {
	done := journal.Delivered{Iteration: run.JudgedIterations(), Head: run.Head}
	changed, err := s.changedInBox(ctx, run)
	if err != nil {
		return err
	}
	onBranch, err := s.isStillOn(ctx, run)
	if err != nil {
		return err
	}
	whyKept, err := s.whyKept(ctx, run, onBranch)
	if err != nil {
		return err
	}
	brought, err := s.box().Bring(ctx, changed, whyKept)
	if err != nil {
		return err
	}
	done.Files = len(brought.Paths)
	done.Ignored = s.box().ChangedLayers()
	for _, left := range brought.Left {
		done.Left = append(done.Left, journal.Left(left))
	}
	done.Branch, err = s.deliverCommits(ctx, run)
	if err != nil {
		return err
	}
	if len(done.Left) > 0 {
		done.Patch, err = s.undelivered(ctx, brought.Left)
	}
	emit(done)
	return err
}

func delivered(run journal.Run) string {
	if run.Box.Delivered != nil && run.Box.Delivered.Branch == "" {
		return run.Box.Delivered.Head
	}
	return run.Start
}

// changedInBox returns the paths to deliver: of stories those of their commits, else all that git does not ignore.
func (s *trees) changedInBox(ctx context.Context, run journal.Run) ([]string, error) {
	tree, err := s.tree(ctx)
	if err != nil {
		return nil, err
	}
	if tree == nil {
		names, err := box.List(ctx, s.Dir)
		if err != nil {
			return nil, err
		}
		return s.box().Changed(ctx, names)
	}
	if run.Policy.Done == policy.ByStories { // also what an earlier delivery left
		names, err := s.changedPaths(ctx, git.Span{From: run.Start, To: run.Head})
		if err != nil {
			return nil, err
		}
		changed, err := s.box().Changed(ctx, names)
		return inBoth(names, changed), err
	}
	names, err := tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	return s.box().Changed(ctx, names)
}

func (s *trees) changedPaths(ctx context.Context, span git.Span) ([]string, error) {
	changes, err := s.trusted.Compare(ctx, span)
	return git.Paths(changes), err
}

// isStillOn reports whether the user's folder has the branch of the run checked out.
func (s *trees) isStillOn(ctx context.Context, run journal.Run) (bool, error) {
	if s.Box.Place == nil {
		return true, nil
	}
	ref, err := s.Box.Place.Ask(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil && !git.SaidNo(err) {
		return false, err
	}
	return ref == git.BranchRef(run.Branch), nil
}

// whyKept returns a function that says why the user's version of a file stays, or "".
func (s *trees) whyKept(ctx context.Context, run journal.Run, onBranch bool) (func(name string) string, error) {
	isProtected, err := handover.Protected(ctx, s.trusted, run.Start, run.Policy.Protect)
	if err != nil {
		return nil, err
	}
	return func(name string) string {
		if !onBranch {
			return "another branch is checked out here"
		}
		if isProtected(name) {
			return "it is protected"
		}
		return ""
	}, nil
}

// deliverCommits moves the user's branch. If that has moved, it makes another branch and returns its name.
func (s *trees) deliverCommits(ctx context.Context, run journal.Run) (branch string, err error) {
	from := delivered(run)
	if s.Box.Place == nil || from == run.Head {
		return "", nil
	}
	if err := remote.Bring(ctx, s.trusted, *s.Box.Place, HeldRef(run.ID), run.Head); err != nil {
		return "", err
	}
	paths, err := s.changedPaths(ctx, git.Span{From: from, To: run.Head})
	if err != nil {
		return "", err
	}
	advance := git.Advance{Branch: run.Branch, From: from, To: run.Head, Paths: paths}
	moved, err := s.Git.Advance(ctx, *s.Box.Place, advance)
	if err != nil || moved {
		return "", err
	}
	branch = "ralph-" + run.ID // no ref below refs/ralph has that name
	for n := 2; ; n++ {        // the user may have checked it out, or gone on with it
		err := remote.Deliver(ctx, s.trusted, *s.Box.Place, branch, run.Head)
		if err == nil || n == maxBranches {
			return branch, err
		}
		branch = fmt.Sprintf("ralph-%s-%d", run.ID, n)
	}
}

const maxBranches = 100

const undeliveredPatch = "undelivered.patch"

// undelivered writes a patch that makes the user's files the box's.
func (s *trees) undelivered(ctx context.Context, left []box.Left) (string, error) {
	dir := filepath.Join(s.work, "sides")
	if err := s.writeSides(dir, left); err != nil {
		return "", fmt.Errorf("write %s: %w", undeliveredPatch, err)
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // temporary
	args := []string{"diff", "--no-index", "--no-prefix", "--binary", "--no-ext-diff", "--no-textconv", "a", "b"}
	patch, err := s.Git.Do(ctx, git.Call{Dir: dir, Args: args, Limit: 1 << 30})
	if err != nil && !git.SaidNo(err) {
		return "", fmt.Errorf("write %s: %w", undeliveredPatch, err)
	}
	return undeliveredPatch, s.home.WriteFile(undeliveredPatch, patch)
}

// writeSides writes the user's and the box's version of each file into an empty folder.
func (s *trees) writeSides(dir string, left []box.Left) error {
	if err := clearDir(dir); err != nil {
		return err
	}
	for _, l := range left {
		if err := s.box().Sides(dir, l.Path); err != nil {
			return err
		}
	}
	return nil
}

// isAllDelivered reports that the box has nothing that the user's folder lacks.
func (s *trees) isAllDelivered(ctx context.Context, run journal.Run) bool {
	if _, err := os.Stat(s.box().Dir); err != nil {
		return true // it was not made yet
	}
	if d := run.Box.Delivered; d != nil {
		if len(d.Left) > 0 {
			return false
		}
		if d.Branch != "" && d.Head != run.Head {
			return false
		}
	}
	if run.Policy.Done == policy.ByStories && run.Dirty {
		return false
	}
	changed, err := s.changedInBox(ctx, run)
	return err == nil && len(changed) == 0
}

// letGo deletes the ref that kept the run's commits: the user's branch has them.
func (s *trees) letGo(ctx context.Context) error {
	if s.Box == nil || s.Box.Place == nil {
		return nil
	}
	_, err := s.Box.Place.Ask(ctx, "update-ref", "-d", HeldRef(s.Run().ID))
	return err
}

// inBoth returns the names that are in both lists. It sorts one: an agent can change 200,000 files.
func inBoth(names, others []string) []string {
	slices.Sort(others)
	var both []string
	for _, name := range names {
		if _, found := slices.BinarySearch(others, name); found {
			both = append(both, name)
		}
	}
	return both
}

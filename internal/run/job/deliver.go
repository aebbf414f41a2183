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
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// HeldRef is the ref of the user's repository that keeps the commits of a run.
func HeldRef(id string) string { return "refs/ralph/" + id }

// BeforeFolder is the folder in a run's own with the user's files as they were before their delivery.
const BeforeFolder = "before"

// delivery brings the work from a box to the user's folder.
type delivery struct {
	user    *UserFolder // nil: there is no box
	machine *Machine
	record  *record
	repo    *repository
	tree    *agentTree
}

// deliver brings the work to the user's folder: files by their three versions, and commits if the user's branch is
// still where they begin.
func (d *delivery) deliver(ctx context.Context, run journal.Run, emit emit) error {
	done := journal.Delivered{Iteration: run.JudgedIterations(), Head: run.Head}
	changed, err := d.changedInBox(ctx, run)
	if err != nil {
		return err
	}
	onBranch, err := d.isStillOn(ctx, run)
	if err != nil {
		return err
	}
	whyKept, err := d.whyKept(ctx, run, onBranch)
	if err != nil {
		return err
	}
	brought, err := d.tree.box().Bring(ctx, changed, whyKept)
	if err != nil {
		return err
	}
	done.Files = len(brought.Paths)
	done.Ignored = d.tree.box().ChangedLayers()
	for _, left := range brought.Left {
		done.Left = append(done.Left, journal.Left(left))
	}
	done.Branch, err = d.deliverCommits(ctx, run)
	if err != nil {
		return err
	}
	if len(done.Left) > 0 {
		done.Patch, err = d.undelivered(ctx, brought.Left)
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
func (d *delivery) changedInBox(ctx context.Context, run journal.Run) ([]string, error) {
	tree, err := d.tree.open(ctx)
	if err != nil {
		return nil, err
	}
	if tree == nil {
		names, err := box.List(ctx, d.tree.code.Dir)
		if err != nil {
			return nil, err
		}
		return d.tree.box().Changed(ctx, names)
	}
	if run.Policy.Done == policy.ByStories { // also what an earlier delivery left
		names, err := d.changedPaths(ctx, git.Span{From: run.Start, To: run.Head})
		if err != nil {
			return nil, err
		}
		changed, err := d.tree.box().Changed(ctx, names)
		isUnchanged := func(name string) bool {
			_, found := slices.BinarySearch(changed, name) // an agent can change 200,000 files
			return !found
		}
		return slices.DeleteFunc(names, isUnchanged), err
	}
	names, err := tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	return d.tree.box().Changed(ctx, names)
}

func (d *delivery) changedPaths(ctx context.Context, span git.Span) ([]string, error) {
	changes, err := d.repo.trusted.Compare(ctx, span)
	return git.Paths(changes), err
}

// isStillOn reports whether the user's folder has the branch of the run checked out.
func (d *delivery) isStillOn(ctx context.Context, run journal.Run) (bool, error) {
	if d.user.Place == nil {
		return true, nil
	}
	ref, err := d.user.Place.Ask(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil && !git.SaidNo(err) {
		return false, err
	}
	return ref == git.BranchRef(run.Branch), nil
}

// whyKept returns a function that says why the user's version of a file stays, or "".
func (d *delivery) whyKept(ctx context.Context, run journal.Run, onBranch bool) (func(name string) string, error) {
	isProtected, err := handover.Protected(ctx, d.repo.trusted, run.Start, run.Policy.Protect)
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
func (d *delivery) deliverCommits(ctx context.Context, run journal.Run) (branch string, err error) {
	from := delivered(run)
	if d.user.Place == nil || from == run.Head {
		return "", nil
	}
	if err := remote.Bring(ctx, d.repo.trusted, *d.user.Place, HeldRef(run.ID), run.Head); err != nil {
		return "", err
	}
	paths, err := d.changedPaths(ctx, git.Span{From: from, To: run.Head})
	if err != nil {
		return "", err
	}
	advance := git.Advance{Branch: run.Branch, From: from, To: run.Head, Paths: paths}
	moved, err := d.machine.Git.Advance(ctx, *d.user.Place, advance)
	if err != nil || moved {
		return "", err
	}
	branch = "ralph-" + run.ID // no ref below refs/ralph has that name
	for n := 2; ; n++ {        // the user may have checked it out, or gone on with it
		err := remote.Deliver(ctx, d.repo.trusted, *d.user.Place, branch, run.Head)
		if err == nil || n == maxBranches {
			return branch, err
		}
		branch = fmt.Sprintf("ralph-%s-%d", run.ID, n)
	}
}

const maxBranches = 100

const undeliveredPatch = "undelivered.patch"

// undelivered writes a patch that makes the user's files the box's.
func (d *delivery) undelivered(ctx context.Context, left []box.Left) (string, error) {
	dir := filepath.Join(d.repo.work, "sides")
	if err := d.writeSides(dir, left); err != nil {
		return "", fmt.Errorf("write %s: %w", undeliveredPatch, err)
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // temporary
	args := []string{"diff", "--no-index", "--no-prefix", "--binary", "--no-ext-diff", "--no-textconv", "a", "b"}
	patch, err := d.machine.Git.Do(ctx, git.Call{Dir: dir, Args: args, Limit: 1 << 30})
	if err != nil && !git.SaidNo(err) {
		return "", fmt.Errorf("write %s: %w", undeliveredPatch, err)
	}
	return undeliveredPatch, d.record.home.WriteFile(undeliveredPatch, patch)
}

// writeSides writes the user's and the box's version of each file into an empty folder.
func (d *delivery) writeSides(dir string, left []box.Left) error {
	if err := clearDir(dir); err != nil {
		return err
	}
	for _, l := range left {
		if err := d.tree.box().Sides(dir, l.Path); err != nil {
			return err
		}
	}
	return nil
}

// isAllDelivered reports that the box has nothing that the user's folder lacks.
func (d *delivery) isAllDelivered(ctx context.Context, run journal.Run) bool {
	if _, err := os.Stat(d.tree.box().Dir); err != nil {
		return true // it was not made yet
	}
	if done := run.Box.Delivered; done != nil {
		if len(done.Left) > 0 {
			return false
		}
		if done.Branch != "" && done.Head != run.Head {
			return false
		}
	}
	if run.Policy.Done == policy.ByStories && run.Dirty {
		return false
	}
	changed, err := d.changedInBox(ctx, run)
	return err == nil && len(changed) == 0
}

// letGo deletes the ref that kept the run's commits: the user's branch has them.
func (d *delivery) letGo(ctx context.Context) error {
	if d.user == nil || d.user.Place == nil {
		return nil
	}
	_, err := d.user.Place.Ask(ctx, "update-ref", "-d", HeldRef(d.record.Run().ID))
	return err
}

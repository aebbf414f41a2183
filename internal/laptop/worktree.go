package laptop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/shell"
)

// checkNotCheckedOut refuses a branch that is checked out: its work is moved to it from another tree.
func (d *Project) checkNotCheckedOut(ctx context.Context, branch, fix string) error {
	dir, err := d.Tool.CheckedOut(ctx, *d.Place, branch)
	if err != nil || dir == "" {
		return err
	}
	return fault.Usage(fmt.Sprintf("the branch %s is checked out in %s, so the work of the run cannot be moved there", branch, dir), fix, nil)
}

// WorkBranch returns where a run over stories commits: the branch of the flag, of the PRD, or the current one. Without
// the flag it is never the default branch. A tree of its own never works on the current branch, which is checked out.
func (d *Project) WorkBranch(ctx context.Context, separate bool, flag string, stories plan.Plan, prd string) (string, error) {
	own := "ralph/" + plan.Slug(stories.Project, 40)
	branch := cmp.Or(flag, stories.BranchName)
	if branch != "" && git.CheckBranch(branch) != nil {
		return "", fault.Usage(fmt.Sprintf("no branch can be called %q", branch), "name another with --branch, or as branchName in "+prd, git.CheckBranch(branch))
	}
	switch {
	case separate:
		branch = cmp.Or(branch, own)
		return branch, d.checkNotCheckedOut(ctx, branch, "switch to another branch there, or run without --worktree, or name another branchName in "+prd)
	case flag == "" && branch != "" && d.Tool.IsDefault(ctx, *d.Place, branch):
		return "", fault.Usage("branchName in "+prd+" is "+branch+", the default branch", "name another, such as "+own+", or commit there with --branch "+branch, nil)
	case branch == "" && d.Tool.IsDefault(ctx, *d.Place, d.Place.Branch):
		return own, nil
	}
	return cmp.Or(branch, d.Place.Branch), nil
}

// CheckModules refuses a tree of which a commit would move or remove a submodule, as after a pull. No git starts in one.
func (d *Project) CheckModules(ctx context.Context) error {
	out, err := d.Place.Do(ctx, git.Call{Args: []string{"diff", "--raw", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", "-z", "HEAD"}})
	if err != nil {
		return fmt.Errorf("look for submodules: %w", err)
	}
	var moved []string
	for change := range slices.Chunk(strings.Split(string(out), "\x00"), 2) { // modes and names, path
		if len(change) == 2 && strings.HasPrefix(change[0], ":"+git.ModeLink) && !git.Ours(change[1]) {
			moved = append(moved, change[1])
		}
	}
	if len(moved) == 0 {
		return nil
	}
	return fault.Usage("submodules in "+d.Place.Top+" are not at the commits of "+d.Place.Branch+": "+journal.ShortList(moved),
		"bring them there (git submodule update --init), or commit them", nil)
}

// checkResumable refuses a run whose repository is gone or whose branch is checked out by now.
func (d *Project) checkResumable(ctx context.Context, run journal.Run) error {
	if run.Branch == "" {
		return nil
	}
	if d.Place == nil {
		_, err := d.Tool.Inspect(ctx, d.ProjectDir)
		return err
	}
	if own := !run.Policy.SeparateTree && run.Policy.Done == policy.ByStories; own && d.Place.Branch != run.Branch {
		return fault.Usage(fmt.Sprintf("the run works on the branch %s, and %s is checked out", run.Branch, d.Place.Branch),
			"git switch "+shell.Quote(run.Branch)+", then: ralph resume", nil)
	}
	if !run.Policy.SeparateTree || run.Policy.UsesLinkedWorktree() {
		return nil
	}
	return d.checkNotCheckedOut(ctx, run.Branch, "switch to another branch there, then: ralph resume")
}

// prepareTree makes the worktree if wanted, else it checks out the branch in the user's own tree. Then it
// looks at the files there.
func (d *Project) prepareTree(ctx context.Context, j *job.Job, asked job.NewRun) (_ job.NewRun, err error) {
	switch {
	case d.Place == nil || j.UserTree == nil && j.Box == nil:
		return asked, nil
	case asked.Policy.UsesLinkedWorktree():
		made, err := d.Tool.AddWorktree(ctx, *d.Place, asked.Branch)
		if err != nil {
			return asked, err
		}
		asked.Branch = made.Branch
		if err := d.useWorktree(ctx, j, made); err != nil {
			return asked, err
		}
	case asked.Branch != d.Place.Branch:
		d.line(fmt.Sprintf("working on the branch %s, from %s", asked.Branch, d.Place.Branch))
		if err := d.Tool.SwitchNew(ctx, *d.Place, asked.Branch); err != nil {
			return asked, err
		}
	}
	tree := j.UserTree
	if j.Box != nil {
		if err := j.Box.Place.Hold(ctx, job.HeldRef(asked.Run), d.Place.Head); err != nil {
			return asked, err
		}
		if tree, err = d.Tool.Own(ctx, *j.Box.Place); err != nil {
			return asked, err
		}
	}
	tree.Beside = job.LoopFiles(asked.Policy)
	standing, err := tree.Look(ctx)
	asked.Work = standing.Work
	return asked, err
}

func (d *Project) reopenWorktree(ctx context.Context, j *job.Job, run journal.Run) error {
	if !run.Policy.UsesLinkedWorktree() {
		return nil
	}
	found, err := worktreeOf(ctx, d.Tool, d.Place, run)
	if err != nil {
		return err
	}
	if found.Dir == "" {
		return fault.Usage("the worktree of the run is gone, in which "+run.Branch+" was checked out",
			"bring it back: git worktree add .ralph-worktree "+shell.Quote(run.Branch), nil)
	}
	return d.useWorktree(ctx, j, found)
}

func (d *Project) useWorktree(ctx context.Context, j *job.Job, to git.Worktree) error {
	place, err := d.Tool.Inspect(ctx, to.Dir)
	if err != nil {
		return err
	}
	if place.Top != to.Dir || place.Common() != d.Place.Common() {
		return fault.Usage(to.Dir+" is no worktree of this repository any more: a link or another repository is in its place",
			"look at it, remove it, and bring the worktree back: git worktree add -f "+shell.Quote(to.Dir)+" "+shell.Quote(to.Branch), nil)
	}
	if j.Box != nil {
		d.useBox(j, place)
		return nil
	}
	j.UserTree, err = d.Tool.Own(ctx, place)
	return err
}

// worktreeOf is empty if the run has no worktree any more.
func worktreeOf(ctx context.Context, tool git.Git, at *git.Place, run journal.Run) (git.Worktree, error) {
	if at == nil || !run.Policy.UsesLinkedWorktree() {
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

package laptop

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// WorkBranch returns where a run over stories commits: the branch of the flag, of the PRD, or the current one. Without
// the flag it is never the default branch. In a worktree the branch is a new one.
func (d *Project) WorkBranch(
	ctx context.Context, separate bool, flag string, stories plan.Plan, prd string,
) (string, error) {
	own := "ralph/" + plan.Slug(stories.Project, 40)
	branch := cmp.Or(flag, stories.BranchName)
	if branch != "" {
		if err := git.CheckBranch(branch); err != nil {
			return "", fault.Usage(fmt.Sprintf("no branch can be called %q", branch),
				"name another with --branch, or as branchName in "+prd, err)
		}
	}
	switch {
	case separate:
		return cmp.Or(branch, own), nil
	case flag == "" && branch != "" && d.Tool.IsDefault(ctx, *d.Place, branch):
		return "", fault.Usage("branchName in "+prd+" is "+branch+", the default branch",
			"name another, such as "+own+", or commit there with --branch "+branch, nil)
	case branch == "" && d.Tool.IsDefault(ctx, *d.Place, d.Place.Branch):
		return own, nil
	}
	return cmp.Or(branch, d.Place.Branch), nil
}

// checkResumable refuses a run whose repository or worktree is gone, or whose branch is not checked out any more.
func (d *Project) checkResumable(ctx context.Context, run journal.Run) error {
	if run.Branch == "" {
		return nil
	}
	if d.Place == nil {
		_, err := d.Tool.Inspect(ctx, d.ProjectDir)
		return err
	}
	fix := "git switch " + shell.Quote(run.Branch) + ", then: " + d.Continuation(run.ID).Command()
	if run.Worktree != "" {
		fix = "git -C " + run.Worktree + strings.TrimPrefix(fix, "git")
		if err := d.openWorktree(ctx, filepath.Join(d.Place.Top, run.Worktree), run.Branch); err != nil {
			return err
		}
	}
	hasBranch := run.Worktree != "" || run.Policy.Done == policy.ByStories
	if hasBranch && d.Work.Branch != run.Branch {
		return fault.Usage(
			fmt.Sprintf("the run works on the branch %s, and %s is checked out", run.Branch, d.Work.Branch), fix, nil)
	}
	return nil
}

// prepareTree makes the worktree if wanted, else it checks out the branch in the user's own tree. Then it
// looks at the files there.
func (d *Project) prepareTree(ctx context.Context, j *job.Job, asked job.NewRun) (job.NewRun, error) {
	switch {
	case d.Place == nil:
		return asked, nil
	case asked.Policy.Worktree:
		made, err := d.addWorktree(ctx, j, asked)
		if err != nil {
			return asked, err
		}
		asked.Branch = made.Branch
		asked.Worktree = filepath.Base(made.Dir)
	case asked.Branch != d.Place.Branch:
		d.line(fmt.Sprintf("working on the branch %s, from %s", asked.Branch, d.Place.Branch))
		if err := d.Tool.SwitchNew(ctx, *d.Place, asked.Branch); err != nil {
			return asked, err
		}
	}
	tree := j.Code.UserTree
	if j.Code.Box != nil {
		// The ref makes git gc keep the commit.
		if _, err := j.Code.Box.Place.Ask(ctx, "update-ref", job.HeldRef(asked.Run), d.Place.Head); err != nil {
			return asked, err
		}
		var err error
		if tree, err = d.Tool.Own(ctx, *j.Code.Box.Place); err != nil {
			return asked, err
		}
	}
	tree.Beside = job.LoopFiles(asked.Policy)
	standing, err := tree.Look(ctx)
	asked.Work = standing.Work
	return asked, err
}

// addWorktree makes a worktree for a run, and places the work there.
func (d *Project) addWorktree(ctx context.Context, j *job.Job, asked job.NewRun) (git.Worktree, error) {
	made, err := d.Tool.AddWorktree(ctx, *d.Place, asked.Branch)
	if err != nil {
		return made, err
	}
	if err := d.openWorktree(ctx, made.Dir, made.Branch); err != nil {
		return made, err
	}
	return made, d.placeWork(ctx, j, asked.Policy)
}

// openWorktree has the run's work go to a linked worktree.
func (d *Project) openWorktree(ctx context.Context, dir, branch string) error {
	place, err := d.Tool.Inspect(ctx, dir)
	if _, missing := os.Lstat(dir); err != nil && missing == nil {
		return err
	}
	if err != nil || place.Top != dir || place.Common() != d.Place.Common() {
		add := "git worktree add -f " + shell.Quote(dir) + " " + shell.Quote(branch)
		return fault.Usage("the worktree of the run is gone: "+dir,
			"look at what is there, and bring the worktree back: "+add, nil)
	}
	d.Work = &place
	return nil
}

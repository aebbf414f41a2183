package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/shell"
)

// Worktree is ralph's linked worktree of the user's repository.
type Worktree struct {
	Dir    string
	Branch string // empty: detached HEAD
}

const worktreeName = ".ralph-worktree"

// AddWorktree adds a worktree to the user's repository, at HEAD on a new branch. If
// the folder or the branch exists, it gets a number. No hook runs.
func (g Git) AddWorktree(ctx context.Context, at Place, branch string) (Worktree, error) {
	if err := CheckBranch(branch); err != nil {
		return Worktree{}, err
	}
	r, err := g.at(ctx, at)
	if err != nil {
		return Worktree{}, err
	}
	if err := g.Exclude(ctx, at, "/"+worktreeName+"*/"); err != nil {
		return Worktree{}, err
	}
	w, err := r.freeWorktree(ctx, branch)
	if err != nil {
		return Worktree{}, fmt.Errorf("add the worktree %s: %w", w.Dir, err)
	}
	err = r.write(ctx, "worktree", "add", "-q", "--no-track", "-b", w.Branch, "--", w.Dir, at.Head)
	if err != nil {
		return Worktree{}, fmt.Errorf("add the worktree %s: %w", w.Dir, err)
	}
	return w, nil
}

func (r repository) freeWorktree(ctx context.Context, branch string) (Worktree, error) {
	dir := filepath.Join(r.top, worktreeName)
	w := Worktree{dir, branch}
	for n := 2; ; n++ {
		if _, err := os.Lstat(w.Dir); err != nil {
			break
		}
		w.Dir = fmt.Sprintf("%s-%d", dir, n)
	}
	for n := 2; ; n++ {
		_, err := r.Ask(ctx, "show-ref", "--verify", "-q", BranchRef(w.Branch))
		if SaidNo(err) {
			return w, nil
		}
		if err != nil {
			return w, fmt.Errorf("look for the branch %s: %w", w.Branch, err)
		}
		w.Branch = fmt.Sprintf("%s-%d", branch, n)
	}
}

// SwitchNew switches the user's tree to a branch at HEAD, which it makes if it is missing. No file changes, and no hook
// runs.
func (g Git) SwitchNew(ctx context.Context, at Place, branch string) error {
	dir, err := g.CheckedOut(ctx, at, branch)
	if err != nil {
		return err
	}
	if dir != "" {
		return fault.Usage(fmt.Sprintf("the branch %s is checked out in %s", branch, dir),
			"switch to another branch there: git switch BRANCH", nil)
	}
	r, err := g.at(ctx, at)
	if err != nil {
		return err
	}
	ref := BranchRef(branch)
	sha, err := r.Ask(ctx, "rev-parse", "--verify", "-q", ref)
	switch {
	case SaidNo(err):
		reason := "branch: Created from " + at.Branch
		none := strings.Repeat("0", len(at.Head))
		if err := r.write(ctx, "update-ref", "-m", reason, ref, at.Head, none); err != nil {
			return fmt.Errorf("create the branch %s: %w", branch, err)
		}
	case err != nil:
		return fmt.Errorf("look for the branch %s: %w", branch, err)
	case sha != at.Head:
		return fault.Usage(fmt.Sprintf("the branch %s is at another commit than %s", branch, at.Branch),
			"check it out first: git switch "+shell.Quote(branch), nil)
	}
	reason := fmt.Sprintf("checkout: moving from %s to %s", at.Branch, branch)
	return r.write(ctx, "symbolic-ref", "-m", reason, "HEAD", ref)
}

// IsDefault reports whether a branch is the remote's default branch, or is called main or master if that is unknown.
// Some file systems ignore case.
func (g Git) IsDefault(ctx context.Context, at Place, branch string) bool {
	if name, ok := g.defaultBranch(ctx, at); ok {
		return strings.EqualFold(branch, name)
	}
	return strings.EqualFold(branch, "main") || strings.EqualFold(branch, "master")
}

// defaultBranch returns the remote's default branch, if this repository knows it.
func (g Git) defaultBranch(ctx context.Context, at Place) (string, bool) {
	r, err := g.at(ctx, at)
	if err != nil {
		return "", false
	}
	prefix := "refs/remotes/" + at.Remote + "/"
	head, err := r.Ask(ctx, "symbolic-ref", "-q", prefix+"HEAD")
	if err != nil {
		return "", false
	}
	return strings.CutPrefix(head, prefix)
}

// CheckedOut returns the folder where a branch is checked out, linked worktrees included, or nothing.
func (g Git) CheckedOut(ctx context.Context, at Place, branch string) (dir string, err error) {
	if branch == at.Branch {
		return at.Top, nil
	}
	if err := CheckBranch(branch); err != nil {
		return "", err
	}
	r, err := g.at(ctx, at)
	if err != nil {
		return "", err
	}
	out, err := r.Ask(ctx, "for-each-ref", "--format=%(refname) %(worktreepath)", "--", BranchRef(branch))
	dir, ok := strings.CutPrefix(out, BranchRef(branch)+" ")
	if err != nil || !ok { // for-each-ref also lists refs below this name
		return "", err
	}
	return dir, nil
}

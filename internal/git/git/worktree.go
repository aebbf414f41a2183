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
	if err := CheckBranch(branch); err != nil {
		return err
	}
	r, err := g.at(ctx, at)
	if err != nil {
		return err
	}
	sha, err := r.Ask(ctx, "rev-parse", "--verify", "-q", BranchRef(branch))
	switch {
	case SaidNo(err):
		return r.write(ctx, "switch", "-q", "--no-track", "-c", branch, at.Head)
	case err != nil:
		return fmt.Errorf("look for the branch %s: %w", branch, err)
	case sha != at.Head:
		return fault.Usage(fmt.Sprintf("the branch %s is at another commit than %s", branch, at.Branch),
			"check it out first: git switch "+shell.Quote(branch), nil)
	}
	return r.write(ctx, "switch", "-q", "--no-guess", branch)
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

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/shell"
)

// Worktree is ralph's linked worktree of the user's repository.
type Worktree struct {
	Dir    string
	Branch string // empty: detached HEAD
}

const worktreeName = ".ralph-worktree"

// AddWorktree adds a worktree to the user's repository, at HEAD on a new branch. If
// the folder or the branch exists, both get a number. No hook or filter runs.
func (g Git) AddWorktree(ctx context.Context, at Place, branch string) (Worktree, error) {
	if err := CheckBranch(branch); err != nil {
		return Worktree{}, err
	}
	if err := errors.Join(g.CheckLinks(ctx, at.Top), g.Exclude(ctx, at, "/"+worktreeName+"*/")); err != nil {
		return Worktree{}, err
	}
	u := userRepo{git: g, dir: at.Top}
	// git judges conditions anew in the worktree: programs of settings that hold only there would not be off.
	key, err := u.Ask(ctx, "config", "--name-only", "--get-regexp", `^includeif\.`)
	switch {
	case err == nil:
		return Worktree{}, fault.Usage("some settings of the repository depend on a condition: "+OneLine(key, 200),
			"run without --worktree, or move them to your own settings: git config --global", nil)
	case !SaidNo(err):
		return Worktree{}, fmt.Errorf("read the configuration: %w", err)
	}
	w, err := u.freeWorktree(ctx, branch)
	if err != nil {
		return Worktree{}, err
	}
	if err := u.write(ctx, "worktree", "add", "-q", "--no-track", "-b", w.Branch, "--", w.Dir, at.Head); err != nil {
		return Worktree{}, fmt.Errorf("add the worktree %s: %w", w.Dir, err)
	}
	return w, nil
}

func (u userRepo) freeWorktree(ctx context.Context, branch string) (Worktree, error) {
	for n, suffix := 2, ""; ; n++ {
		w := Worktree{filepath.Join(u.dir, worktreeName+suffix), branch + suffix}
		_, there := os.Lstat(w.Dir)
		_, err := u.Ask(ctx, "show-ref", "--verify", "-q", BranchRef(w.Branch))
		if errors.Is(there, fs.ErrNotExist) && SaidNo(err) {
			return w, nil
		}
		if err != nil && !SaidNo(err) {
			return w, fmt.Errorf("look for the branch %s: %w", w.Branch, err)
		}
		suffix = fmt.Sprintf("-%d", n)
	}
}

// Worktrees returns ralph's worktrees of the user's repository.
func (g Git) Worktrees(ctx context.Context, at Place) ([]Worktree, error) {
	out, err := userRepo{git: g, dir: at.Top}.Ask(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, fmt.Errorf("list the worktrees of %s: %w", at.Top, err)
	}
	var ours []Worktree
	for entry := range strings.SplitSeq(out, "\x00\x00") {
		var w Worktree
		for line := range strings.SplitSeq(entry, "\x00") {
			if dir, is := strings.CutPrefix(line, "worktree "); is {
				w.Dir = dir
			}
			if ref, is := strings.CutPrefix(line, "branch refs/heads/"); is {
				w.Branch = ref
			}
		}
		if filepath.Dir(w.Dir) == at.Top && strings.HasPrefix(filepath.Base(w.Dir), worktreeName) {
			ours = append(ours, w)
		}
	}
	return ours, nil
}

// RemoveWorktree removes one of ralph's worktrees, and its branch if the user's HEAD
// contains it. A worktree with uncommitted work is an error.
func (g Git) RemoveWorktree(ctx context.Context, at Place, w Worktree) (branchToo bool, err error) {
	u := userRepo{git: g, dir: at.Top}
	if _, err := os.Stat(w.Dir); err == nil {
		s, _, err := userRepo{git: g, dir: w.Dir}.readStatus(ctx)
		if err != nil {
			return false, fmt.Errorf("look at %s: %w", w.Dir, err)
		}
		if err := (Place{Top: w.Dir, Dirty: s.paths()}).Clean(); err != nil {
			return false, err
		}
	}
	// Without --force, git would refuse ignored files too.
	if err := u.write(ctx, "worktree", "remove", "--force", "--", w.Dir); err != nil {
		return false, fmt.Errorf("remove the worktree %s: %w", w.Dir, err)
	}
	if w.Branch == "" {
		return false, nil
	}
	if _, err := u.Ask(ctx, "merge-base", "--is-ancestor", BranchRef(w.Branch), "HEAD"); err != nil {
		if SaidNo(err) {
			err = nil
		}
		return false, err
	}
	err = u.write(ctx, "update-ref", "-d", BranchRef(w.Branch))
	return err == nil, err
}

// CheckDirect refuses a branch that is a symbolic ref: a write to it would move another branch, which may be checked out.
func (g Git) CheckDirect(ctx context.Context, at Place, branch string) error {
	to, err := userRepo{git: g, dir: at.Top}.Ask(ctx, "symbolic-ref", "-q", BranchRef(branch))
	switch {
	case SaidNo(err):
		return nil
	case err != nil:
		return fmt.Errorf("look at the branch %s: %w", branch, err)
	}
	return fault.Usage(fmt.Sprintf("the branch %s is a symbolic ref to %s", branch, OneLine(to, 80)),
		"remove it, if it is not yours: git symbolic-ref -d "+shell.Quote(BranchRef(branch)), nil)
}

// SwitchNew switches the user's tree to a branch at HEAD, which it makes if it is missing. No file changes, and no hook
// runs.
func (g Git) SwitchNew(ctx context.Context, at Place, branch string) error {
	dir, err := g.CheckedOut(ctx, at, branch)
	if err != nil {
		return err
	}
	if dir != "" {
		return fault.Usage(fmt.Sprintf("the branch %s is checked out in %s", branch, dir), "switch to another branch there: git switch BRANCH", nil)
	}
	if err := errors.Join(g.CheckDirect(ctx, at, branch), g.CheckLinks(ctx, at.Top)); err != nil {
		return err
	}
	u := userRepo{git: g, dir: at.Top}
	sha, err := u.Ask(ctx, "rev-parse", "--verify", "-q", BranchRef(branch))
	switch {
	case err == nil && sha != at.Head:
		return fault.Usage(fmt.Sprintf("the branch %s is at another commit than %s", branch, at.Branch), "check it out first: git switch "+shell.Quote(branch), nil)
	case err != nil && !SaidNo(err):
		return fmt.Errorf("look for the branch %s: %w", branch, err)
	case err != nil:
		if err := u.write(ctx, "update-ref", "-m", "branch: Created from "+at.Branch, BranchRef(branch), at.Head, strings.Repeat("0", len(at.Head))); err != nil {
			return fmt.Errorf("create the branch %s: %w", branch, err)
		}
	}
	return u.write(ctx, "symbolic-ref", "-m", fmt.Sprintf("checkout: moving from %s to %s", at.Branch, branch), "HEAD", BranchRef(branch))
}

// IsDefault reports whether a branch is the remote's default branch, or is called main or master if that is unknown.
// Some file systems ignore case.
func (g Git) IsDefault(ctx context.Context, at Place, branch string) bool {
	head, err := userRepo{git: g, dir: at.Top}.Ask(ctx, "symbolic-ref", "-q", "refs/remotes/"+at.Remote+"/HEAD")
	if name, is := strings.CutPrefix(head, "refs/remotes/"+at.Remote+"/"); err == nil && is {
		return strings.EqualFold(branch, name)
	}
	return strings.EqualFold(branch, "main") || strings.EqualFold(branch, "master")
}

// CheckedOut returns the folder where a branch is checked out, linked worktrees included, or nothing.
func (g Git) CheckedOut(ctx context.Context, at Place, branch string) (dir string, err error) {
	if branch == at.Branch {
		return at.Top, nil
	}
	if err := CheckBranch(branch); err != nil {
		return "", err
	}
	out, err := userRepo{git: g, dir: at.Top}.Ask(ctx, "for-each-ref", "--format=%(refname) %(worktreepath)", "--", BranchRef(branch))
	if err != nil {
		return "", fmt.Errorf("look for the branch %s: %w", branch, err)
	}
	if dir, is := strings.CutPrefix(out, BranchRef(branch)+" "); is { // for-each-ref also lists refs below this name
		return dir, nil
	}
	return "", nil
}

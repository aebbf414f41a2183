package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
)

// A worktree is at HEAD on a branch of its own. Existing folders and branches of
// that name stay, and the user's tree stays clean.
func TestAddWorktree(t *testing.T) {
	dir := project(t)
	g, _ := newGit(t)
	sh(t, dir, "", "git", "branch", "ralph/loop-2")
	write(t, filepath.Join(dir, ".git/hooks/post-checkout"), "#!/bin/sh\ntouch \"$OLDPWD/ran\" ran\n")
	if err := os.Chmod(filepath.Join(dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	at := must(g.Inspect(t.Context(), dir))(t)
	want := []git.Worktree{
		{Dir: filepath.Join(at.Top, ".ralph-worktree"), Branch: "ralph/loop"},
		{Dir: filepath.Join(at.Top, ".ralph-worktree-2"), Branch: "ralph/loop-3"},
	}
	for _, w := range want {
		if got := must(g.AddWorktree(t.Context(), at, "ralph/loop"))(t); got != w {
			t.Errorf("AddWorktree = %+v, want %+v", got, w)
		}
		if head := sh(t, w.Dir, "", "git", "rev-parse", "HEAD"); head != at.Head {
			t.Errorf("%s stands at %s, want %s", w.Dir, head, at.Head)
		}
		if _, err := os.Stat(filepath.Join(w.Dir, "ran")); err == nil {
			t.Errorf("a hook ran in %s", w.Dir)
		}
	}
	if diff := cmp.Diff(want, must(g.Worktrees(t.Context(), at))(t)); diff != "" {
		t.Errorf("Worktrees (-want +got):\n%s", diff)
	}
	if status := sh(t, dir, "", "git", "status", "--porcelain"); status != "" {
		t.Errorf("the user's tree holds %s", status)
	}
	if _, err := g.AddWorktree(t.Context(), at, "a..b"); err == nil {
		t.Error("AddWorktree took a branch that is none")
	}
}

// A worktree with uncommitted work is not removed, and a branch only if HEAD
// contains it.
func TestRemoveWorktree(t *testing.T) {
	dir := project(t)
	g, _ := newGit(t)
	at := must(g.Inspect(t.Context(), dir))(t)
	w := must(g.AddWorktree(t.Context(), at, "ralph/loop"))(t)
	write(t, filepath.Join(w.Dir, "new"), "1")
	if _, err := g.RemoveWorktree(t.Context(), at, w); err == nil {
		t.Error("uncommitted work was removed")
	}
	sh(t, w.Dir, "", "git", "add", "-A")
	sh(t, w.Dir, "", "git", "commit", "-q", "-m", "new")
	if gone := must(g.RemoveWorktree(t.Context(), at, w))(t); gone {
		t.Error("an unmerged branch went with its worktree")
	}
	sh(t, dir, "", "git", "rev-parse", "--verify", "ralph/loop")
	if _, err := os.Stat(w.Dir); err == nil {
		t.Errorf("%s is still there", w.Dir)
	}

	second := must(g.AddWorktree(t.Context(), at, "ralph/loop"))(t)
	if second.Branch != "ralph/loop-2" {
		t.Errorf("branch %s, want ralph/loop-2", second.Branch)
	}
	if gone := must(g.RemoveWorktree(t.Context(), at, second))(t); !gone {
		t.Error("a branch without work of its own stayed")
	}
	if left := must(g.Worktrees(t.Context(), at))(t); len(left) > 0 {
		t.Errorf("still there: %+v", left)
	}
}

// Commits of a detached HEAD are not removed with their worktree.
func TestRemoveWorktreeLosesNothing(t *testing.T) {
	dir := project(t)
	g, _ := newGit(t)
	at := must(g.Inspect(t.Context(), dir))(t)
	kept := func(w git.Worktree, name string) {
		t.Helper()
		if _, err := g.RemoveWorktree(t.Context(), at, w); err == nil {
			t.Errorf("%s was removed", w.Dir)
		}
		if _, err := os.Stat(filepath.Join(w.Dir, name)); err != nil {
			t.Error(err)
		}
	}
	w := must(g.AddWorktree(t.Context(), at, "ralph/loop"))(t)
	sh(t, w.Dir, "", "git", "checkout", "-q", "--detach")
	write(t, filepath.Join(w.Dir, "new"), "1")
	sh(t, w.Dir, "", "git", "add", "-A")
	sh(t, w.Dir, "", "git", "commit", "-q", "-m", "new")
	w.Branch = ""
	kept(w, "new")
	sh(t, w.Dir, "", "git", "tag", "kept")
	must(g.RemoveWorktree(t.Context(), at, w))(t)
}

package git_test

import (
	"os"
	"path/filepath"
	"testing"

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
	if status := sh(t, dir, "", "git", "status", "--porcelain"); status != "" {
		t.Errorf("the user's tree holds %s", status)
	}
	if _, err := g.AddWorktree(t.Context(), at, "a..b"); err == nil {
		t.Error("AddWorktree took a branch that is none")
	}
}

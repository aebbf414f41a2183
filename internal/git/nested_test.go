package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git"
)

// What is guarded goes by the folder: without a HEAD, or without any .git, too.
func TestGuardedByTheFolder(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, ".git")
	if got := git.Guarded(dir); !slices.Contains(guarded(got), at) || !slices.Contains(got.ReadOnly, filepath.Join(dir, ".gitmodules")) {
		t.Errorf("where there is none: %q", got)
	}
	write(t, filepath.Join(at, "config"), "")
	write(t, filepath.Join(at, "modules/sub/config"), "")
	if got := git.Guarded(dir); !slices.Contains(guarded(got), at) || !slices.Contains(guarded(got), filepath.Join(at, "modules/sub")) {
		t.Errorf("without a HEAD: %q", got)
	}
	tree := t.TempDir()
	write(t, filepath.Join(tree, ".git"), "gitdir: elsewhere\n")
	want := git.Needs{ReadOnly: []string{filepath.Join(tree, ".gitmodules"), filepath.Join(tree, ".git")}}
	if diff := cmp.Diff(want, git.Guarded(tree)); diff != "" {
		t.Errorf("a file that leads there (-want +got):\n%s", diff)
	}
}

// A folder whose .git is none to git is not part of a repository further up.
func TestInspectIsNotLedUpwards(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	below := filepath.Join(top, "sub", "deep")
	write(t, filepath.Join(below, "x"), "")
	if place, err := g.Inspect(t.Context(), below); err != nil || filepath.Base(place.Top) != filepath.Base(top) {
		t.Errorf("Inspect = %+v, %v", place, err)
	}
	write(t, filepath.Join(top, "sub", ".git", "config"), "")
	if place, err := g.Inspect(t.Context(), below); err == nil {
		t.Errorf("Inspect = %+v", place)
	}
}

// Other repositories in a tree are found, and whatever git would run of them.
func TestNested(t *testing.T) {
	top := project(t)
	for _, name := range []string{"n/.git/config", "b/.git", "c/HEAD", "c/objects/x", "c/refs/x", "d/HEAD", "e/.git/hooks/pre-push", "f/.git/config"} {
		write(t, filepath.Join(top, name), "x")
	}
	before := git.LookNested(t.Context(), top)
	if diff := cmp.Diff([]string{"b", "c", "e", "f", "n"}, before.Since(nil)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	for _, name := range []string{"n/.git/config", "b/.git", "c/config", "e/.git/hooks/pre-push", "f/.git/index", "f/x", ".git/config", "g/.git/HEAD"} {
		write(t, filepath.Join(top, name), "y")
	}
	if diff := cmp.Diff([]string{"b", "c", "e", "g", "n"}, git.LookNested(t.Context(), top).Since(before)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	before = git.LookNested(t.Context(), top)
	if err := os.Chmod(filepath.Join(top, "e/.git/hooks/pre-push"), 0o755); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"e"}, git.LookNested(t.Context(), top).Since(before)); diff != "" {
		t.Errorf("a hook that can be run (-want +got):\n%s", diff)
	}
}

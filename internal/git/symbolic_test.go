package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/remote"
)

// A command in the sandbox can make a branch a symbolic ref to the one that is checked out, which ralph
// would move instead.
func TestSymbolicBranchesAreRefused(t *testing.T) {
	l := newLab(t)
	top := project(t)
	place := must(l.git.Inspect(t.Context(), top))(t)
	trusted := must(l.git.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "trusted.git")))(t)
	sh(t, top, "", "git", "symbolic-ref", "refs/heads/work", "refs/heads/"+place.Branch)
	_, borrowed := l.git.Borrow(t.Context(), place, filepath.Join(t.TempDir(), "other.git"), "work")
	for name, err := range map[string]error{
		"Deliver":   remote.Deliver(t.Context(), trusted, place, "work", place.Head),
		"SwitchNew": l.git.SwitchNew(t.Context(), place, "work"),
		"Borrow":    borrowed,
	} {
		if err == nil || !strings.Contains(err.Error(), "the branch work is a symbolic ref to refs/heads/") {
			t.Errorf("%s = %v, want that the branch is a symbolic ref", name, err)
		}
	}
	if ref := sh(t, top, "", "git", "symbolic-ref", "HEAD"); ref != "refs/heads/"+place.Branch {
		t.Errorf("HEAD is %s", ref)
	}
}

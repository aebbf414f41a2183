package git_test

import (
	"path/filepath"
	"slices"
	"testing"
)

// Who works in the user's own tree is given what it borrows, and what git would
// run of it is not theirs, a submodule's and another worktree's included.
func TestNeeds(t *testing.T) {
	l := newLab(t)
	top := project(t)
	for _, name := range []string{".git/modules/sub/HEAD", ".git/modules/sub/objects/HEAD", ".git/worktrees/other/HEAD"} {
		write(t, filepath.Join(top, name), "ref: refs/heads/main\n")
	}
	write(t, filepath.Join(top, ".git/objects/info/alternates"), filepath.Join(l.trusted.Dir, "objects")+"\n")
	place := must(l.git.Inspect(t.Context(), top))(t)
	needs := must(l.git.Own(t.Context(), place))(t).Needs()
	for _, name := range []string{
		".git/config", ".git/hooks", ".git/info", ".gitmodules", ".git/modules/sub/config", ".git/modules/sub/hooks", ".git/worktrees/other/config.worktree",
	} {
		if !slices.Contains(needs.ReadOnly, filepath.Join(place.Top, name)) {
			t.Errorf("%s is anybody's: %q", name, needs.ReadOnly)
		}
	}
	if slices.Contains(needs.ReadOnly, filepath.Join(place.Top, ".git/modules/sub/objects/config")) {
		t.Error("it looked for repositories among objects")
	}
	if !slices.Contains(needs.Read, filepath.Join(l.trusted.Dir, "objects")) || len(needs.Write) > 0 {
		t.Errorf("needs to read %q and write %q", needs.Read, needs.Write)
	}
}

// A linked worktree's repository lies elsewhere: it is to be written to there.
func TestNeedsOfAWorktree(t *testing.T) {
	g, _ := newGit(t)
	place := must(g.Inspect(t.Context(), project(t)))(t)
	made := must(g.AddWorktree(t.Context(), place, "side"))(t)
	there := must(g.Inspect(t.Context(), made.Dir))(t)
	needs := must(g.Own(t.Context(), there))(t).Needs()
	if !slices.Contains(needs.Write, filepath.Join(place.Top, ".git")) {
		t.Errorf("cannot write to its repository: %q", needs.Write)
	}
	for _, path := range []string{filepath.Join(there.Top, ".git"), filepath.Join(place.Top, ".git", "config"), filepath.Join(place.Top, ".git", "hooks")} {
		if !slices.Contains(needs.ReadOnly, path) {
			t.Errorf("%s is anybody's: %q", path, needs.ReadOnly)
		}
	}
}

// Who works in a tree that was grown needs what it borrows, and nothing else of
// the program's; that has its own to lend, and what it borrows itself.
func TestLent(t *testing.T) {
	l := newLab(t)
	store := filepath.Join(l.trusted.Dir, "objects")
	if needs := l.tree.Needs(); !slices.Contains(needs.Read, store) || len(needs.Write)+len(needs.ReadOnly) > 0 {
		t.Errorf("needs %+v", needs)
	}
	write(t, filepath.Join(store, "info", "alternates"), "/elsewhere/objects\n../../other/objects\n")
	if lent, want := l.trusted.Lent(), []string{l.trusted.Dir, "/elsewhere/objects", filepath.Join(l.trusted.Dir, "..", "other", "objects")}; !slices.Equal(lent, want) {
		t.Errorf("lends %q, want %q", lent, want)
	}
}

func TestFiles(t *testing.T) {
	l := newLab(t)
	files := must(l.trusted.Files(t.Context(), l.base))(t)
	want := []string{".gitattributes", ".github/workflows/ci.yml", ".gitignore", "CODEOWNERS", "README.md", "src/main.go"}
	if !slices.Equal(files, want) {
		t.Errorf("Files = %q, want %q", files, want)
	}
	if _, err := l.trusted.Files(t.Context(), "main"); err == nil {
		t.Error("it takes a name for a commit")
	}
}

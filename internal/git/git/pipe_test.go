package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/git"
)

// pipe replaces a file by a named pipe.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
}

// stand returns the user's own repository, in which a run works.
type stand struct {
	*testing.T

	git   git.Git
	place git.Place
	tree  *git.Tree
}

// A file of the user's own repository may have become a named pipe: ralph returns
// an error and does not wait.
func TestNothingWaitsForAPipe(t *testing.T) {
	for name, c := range map[string]struct {
		pipe string
		do   func(stand) error
		want string // of the error; empty: none
	}{
		"the locks that git left": {".git", func(s stand) error {
			return s.tree.Restore(s.Context(), s.place.Head)
		}, ".git is not a folder"},
		"what it ignores": {".git/info/exclude", func(s stand) error {
			return s.git.Exclude(s.Context(), s.place, "x")
		}, "it is not a plain file"},
		"where its history ends": {".git/shallow", func(s stand) error {
			_, err := s.git.Borrow(s.Context(), s.place, filepath.Join(s.TempDir(), "b.git"), "work")
			return err
		}, "it is not a plain file"},
		"its packs": {".git/objects/pack", func(s stand) error {
			trusted, err := s.git.Borrow(s.Context(), s.place, filepath.Join(s.TempDir(), "b.git"), "work")
			if err == nil {
				_, err = trusted.Files(s.Context(), s.place.Head)
			}
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			top := project(t)
			s := stand{t, g, must(g.Inspect(t.Context(), top))(t), own(t, g, top)}
			pipe(t, filepath.Join(top, c.pipe))
			err := c.do(s)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

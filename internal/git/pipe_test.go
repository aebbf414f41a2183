package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/process"
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

// git waits for a pipe once, and not in every call.
func TestGitWaitsForAPipeOnce(t *testing.T) {
	for name, link := range map[string]string{
		".git/index": "", ".git/info/exclude": "", ".gitignore": "", "sub/.gitattributes": "", ".git/info/attributes": "../../work", ".git/info": "../sub",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			at := filepath.Join(l.tree.Dir, name)
			pipe(t, at)
			pipe(t, filepath.Join(l.tree.Dir, "work"))
			pipe(t, filepath.Join(l.tree.Dir, "sub", "exclude"))
			if link != "" {
				if err := errors.Join(os.Remove(at), os.Symlink(link, at)); err != nil {
					t.Fatal(err)
				}
			}
			l.tree.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
				if _, err := os.Readlink(at); isPipe(at) || err == nil {
					return process.Result{Exit: -1, TimedOut: true}, nil
				}
				return l.seen.run(ctx, c)
			}
			if _, err := l.tree.Inspect(t.Context()); err == nil || !strings.Contains(err.Error(), "took too long") {
				t.Fatalf("Status = %v, want that git took too long", err)
			}
			if _, err := l.tree.Inspect(t.Context()); err != nil {
				t.Errorf("Status = %v, the second time", err)
			}
			if !isPipe(filepath.Join(l.tree.Dir, "work")) {
				t.Error("the project's own pipe is gone")
			}
		})
	}
}

func isPipe(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().Type() == os.ModeNamedPipe
}

package guarded_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/testsupport/gittest"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// The nearest folder with a .git counts, also where that is a file.
func TestAround(t *testing.T) {
	top := t.TempDir()
	gittest.Write(t, filepath.Join(top, ".git", "HEAD"), "ref: refs/heads/main\n")
	gittest.Write(t, filepath.Join(top, "module", ".git"), "gitdir: ../.git/modules/module\n")
	for below, want := range map[string]string{"": "", "a/b": "", "module": "module", "module/a": "module"} {
		if got := guarded.Around(filepath.Join(top, below)); got != filepath.Join(top, want) {
			t.Errorf("Around(%q) = %s, want %s", below, got, filepath.Join(top, want))
		}
	}
}

// What the user has in the file stays, and a pattern is not added if another form of it is there.
func TestAddLines(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"nothing":         {"", ".ralph-active\n.ralph/\n"},
		"no last newline": {"*.log", "*.log\n.ralph-active\n.ralph/\n"},
		"one":             {"/.ralph-active\r\n", "/.ralph-active\r\n.ralph/\n"},
		"all":             {".ralph\n  .ralph-active \n", ".ralph\n  .ralph-active \n"},
		"comment":         {"# .ralph/\n.ralph-active\n", "# .ralph/\n.ralph-active\n.ralph/\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := filepath.Join(dir, "info", "exclude")
			if c.before != "" {
				gittest.Write(t, at, c.before)
			}
			for range 2 {
				must.Get(guarded.AddLines(dir, "info/exclude", ".ralph-active", ".ralph/"))(t)
				got, err := os.ReadFile(at)
				if diff := cmp.Diff(c.after, string(got)); err != nil || diff != "" {
					t.Errorf("%v (-want +got):\n%s", err, diff)
				}
			}
		})
	}
}

// A name that some file system reads as .git, or as another known name, is recognized in any spelling.
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, ".g\u200cit": true, "git~1": true, ".git. ": true, ".git::$INDEX_ALLOCATION": true, ".gitignore": false, "git": false, "x.git": false,
	} {
		if got := guarded.IsGitDir(name); got != want {
			t.Errorf("IsGitDir(%q) = %t, want %t", name, got, want)
		}
	}
	for name, want := range map[string]bool{"a/b": false, "a/": false, "": false, "../a": true, "a/./b": true, "a//b": true, "/a": true, "a/.Git/config": true} {
		if got := guarded.Escapes(name); got != want {
			t.Errorf("Escapes(%q) = %t, want %t", name, got, want)
		}
	}
	if got := guarded.Fold("CODEOWNER\u017f"); got != "codeowners" {
		t.Errorf("Fold = %q", got)
	}
}

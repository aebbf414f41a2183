package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
)

// If two packs contain an object with one id, git reads the pack that it used last. What proofs read is named
// by its content, or there is an error.
func TestEachCopyHasItsName(t *testing.T) {
	for name, test := range map[string]struct {
		text, version string
		bad           bool
	}{
		"the same twice":              {"good\n", "2", false},
		"another the second time":     {"evil\n", "2", true},
		"the same, in the older form": {"good\n", "1", false},
		"another, in the older form":  {"evil\n", "1", true},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			top := filepath.Join(t.TempDir(), "projekt für \"ä")
			if err := os.Rename(project(t), top); err != nil {
				t.Fatal(err)
			}
			sh(t, top, "", "git", "config", "pack.indexVersion", test.version)
			write(t, filepath.Join(top, "a"), "good\n")
			write(t, filepath.Join(top, "dir", "b"), "b\n")
			sh(t, top, "", "git", "add", "-A")
			sh(t, top, "", "git", "commit", "-qm", "more")
			trusted, span := copyOf(t, g, top)
			twoPacks(t, top, test.text)
			dir := filepath.Join(t.TempDir(), "clean")
			if _, err := trusted.Clone(t.Context(), git.CloneSpec{Dir: dir, SHA: span.To}); err != nil {
				if !test.bad {
					t.Fatal(err)
				}
				return
			}
			if text := must(os.ReadFile(filepath.Join(dir, "a")))(t); string(text) != "good\n" {
				t.Errorf("the checkout has %q", text)
			}
		})
	}
}

// twoPacks puts the project's objects into two packs: all but a folder in one, and
// the folder, with another text for the file a, in an older one.
func twoPacks(t *testing.T, top, text string) {
	t.Helper()
	objects := filepath.Join(top, ".git", "objects")
	file, folder := sh(t, top, "", "git", "rev-parse", "HEAD:a"), sh(t, top, "", "git", "rev-parse", "HEAD:dir")
	swap(t, objects, file, "blob", text)
	name := sh(t, top, file+"\n"+folder+"\n", "git", "pack-objects", "-q", filepath.Join(top, "second"))
	swap(t, objects, file, "blob", "good\n")
	if err := os.Remove(filepath.Join(objects, folder[:2], folder[2:])); err != nil {
		t.Fatal(err)
	}
	rest := sh(t, top, "", "sh", "-c", "git cat-file --batch-all-objects --batch-check='%(objectname)'")
	sh(t, top, rest+"\n", "git", "pack-objects", "-q", filepath.Join(objects, "pack", "pack"))
	sh(t, top, "", "git", "prune-packed")
	second := filepath.Join(objects, "pack", "pack-"+name)
	for _, end := range []string{".pack", ".idx"} {
		if err := os.Rename(filepath.Join(top, "second-"+name+end), second+end); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Unix(1e9, 0)
	if err := os.Chtimes(second+".pack", long, long); err != nil {
		t.Fatal(err)
	}
}

// An answer about the user's objects, which others can replace, is not remembered.
func TestBorrowedIsNotRemembered(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	write(t, filepath.Join(top, "a"), "2\n")
	sh(t, top, "", "git", "commit", "-qam", "more")
	trusted, span := borrowed(t, g, top)
	file := func(rev string) string {
		id := sh(t, top, "", "git", "rev-parse", rev)
		return filepath.Join(top, ".git", "objects", id[:2], id[2:])
	}
	now, before := file("HEAD^{tree}"), file("HEAD~1^{tree}")
	for _, test := range []struct {
		text  []byte
		names int
	}{{must(os.ReadFile(before))(t), 0}, {must(os.ReadFile(now))(t), 1}} {
		if err := errors.Join(os.Remove(now), os.WriteFile(now, test.text, 0o444)); err != nil {
			t.Fatal(err)
		}
		if names := must(trusted.ChangedFiles(t.Context(), span))(t); len(names) != test.names {
			t.Errorf("the commit changes %q, want %d files", names, test.names)
		}
	}
}

// Nor is a merge base believed: a commit before the base could claim to descend
// from the work, with a date that stops git's search.
func TestHistoryIsNamedByItsContent(t *testing.T) {
	g, _ := newGit(t)
	top := project(t)
	commit := func(file, date string) string {
		write(t, filepath.Join(top, file), date)
		sh(t, top, "", "git", "add", "-A")
		at := "@" + date + " +0000"
		sh(t, top, "", "env", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at, "git", "commit", "-qm", file)
		return sh(t, top, "", "git", "rev-parse", "HEAD")
	}
	before := commit("a", "1000000")
	commit("b", "2000000")
	work := commit("c", "500000")
	text := sh(t, top, "", "git", "cat-file", "commit", before) + "\n"
	swap(t, filepath.Join(top, ".git", "objects"), before, "commit", strings.Replace(text, "author ", "parent "+work+"\nauthor ", 1))
	commit("d", "499999")
	trusted, span := copyOf(t, g, top)
	span.From = sh(t, top, "", "git", "rev-parse", "HEAD~2")
	if names, err := trusted.ChangedFiles(t.Context(), span); err == nil {
		t.Errorf("ChangedFiles = %q, want an error", names)
	}
}

// copyOf returns what proofs of a project read, and the project's last commit.
func copyOf(t *testing.T, g git.Git, top string) (*git.Trusted, git.Span) {
	t.Helper()
	trusted, span := borrowed(t, g, top)
	return must(trusted.Copy(t.Context()))(t), span
}

// borrowed returns a repository that borrows from a project to which others write, and the project's last commit.
func borrowed(t *testing.T, g git.Git, top string) (*git.Trusted, git.Span) {
	t.Helper()
	place := must(g.Inspect(t.Context(), top))(t)
	trusted := must(g.Borrow(t.Context(), place, t.TempDir()))(t)
	return trusted, git.Span{From: sh(t, top, "", "git", "rev-parse", "HEAD~1"), To: place.Head}
}

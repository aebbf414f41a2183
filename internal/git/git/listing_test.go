package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// A listing tells files from what is ignored, missing, or written by a filter. It does not look into another repository.
func TestListing(t *testing.T) {
	g, _ := newGit(t)
	dir := project(t)
	for name, text := range map[string]string{
		".gitignore": "/deps/\n*.log\n", ".gitattributes": "secret filter=git-crypt\nbig filter=lfs\n", "secret": "1", "big": "1", "gone": "1",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	sh(t, dir, "", "git", "add", "-A")
	sh(t, dir, "", "git", "commit", "-q", "-m", "more")
	must.Do(t, os.Remove(filepath.Join(dir, "gone")))
	for _, name := range []string{"a draft\nof mine", "deps/lib/x", "sub/x.log", "a [1].log", "two\nlines.log", "sub/y", ".git/info/exclude"} {
		write(t, filepath.Join(dir, name), "*.tmp\n")
	}
	sh(t, dir, "", "git", "init", "-q", "nested")
	sh(t, filepath.Join(dir, "nested"), "", "git", "commit", "-q", "--allow-empty", "-m", "x")
	place := must.Get(g.Inspect(t.Context(), dir))(t)
	got := must.Get(place.List(t.Context()))(t)
	want := git.Listing{
		Files:    []string{".gitattributes", ".gitignore", "a", "big", "gone", "secret", "a draft\nof mine", "nested/", "sub/y"},
		Removed:  []string{"gone"},
		Ignored:  []string{"deps/", "sub/x.log", "a [1].log", "two\nlines.log"},
		Filtered: []string{"secret"},
	}
	sorted := cmp.Transformer("sorted", func(all []string) map[string]bool {
		set := map[string]bool{}
		for _, one := range all {
			set[one] = true
		}
		return set
	})
	if diff := cmp.Diff(want, got, sorted); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Files, must.Get(own(t, g, dir).Files(t.Context()))(t), sorted); diff != "" {
		t.Errorf("Files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"*.tmp", "/deps/", "/sub/x.log", `/a\ \[1].log`}, must.Get(place.Excluded(t.Context()))(t), sorted); diff != "" {
		t.Errorf("Excluded (-want +got):\n%s", diff)
	}
}

// A branch moves to work that was delivered, if it is checked out and still where the work began. The files stay, and the
// index has those of the work.
func TestAdvance(t *testing.T) {
	for name, c := range map[string]struct {
		user   string // what the user did meanwhile, as a shell script with the argument to
		moved  bool
		at     string // where trunk is then: from, to or user
		status string
		edited string // what the files hold otherwise
	}{
		"nothing else":              {moved: true, at: "to"},
		"staged changes":            {user: "echo 1 >mine; git add mine", moved: true, at: "to", status: "A  mine"},
		"the same files are staged": {user: "git add -A", moved: true, at: "to"},
		"a file of it is edited":    {user: "printf 'my own' >a", moved: true, at: "to", status: " M a", edited: "my own1"},
		"ralph was killed before it set the index": {
			user: "git update-ref refs/heads/trunk $1", moved: true, at: "to",
		},
		"another branch": {user: "git switch -q -c other", at: "from", status: " M a\n D gone\n?? new/b"},
		"no branch":      {user: "git switch -q --detach", at: "from", status: " M a\n D gone\n?? new/b"},
		"a commit": {
			user: "git commit -q --allow-empty -m mine", at: "user", status: " M a\n D gone\n?? new/b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := newGit(t)
			dir := project(t)
			write(t, filepath.Join(dir, "gone"), "1")
			sh(t, dir, "", "git", "add", "-A")
			sh(t, dir, "", "git", "commit", "-q", "-m", "more")
			from := sh(t, dir, "", "git", "rev-parse", "HEAD")
			write(t, filepath.Join(dir, "a"), "2")
			write(t, filepath.Join(dir, "new/b"), "1")
			must.Do(t, os.Remove(filepath.Join(dir, "gone")))
			sh(t, dir, "", "git", "add", "-A")
			to := sh(t, dir, "", "git", "commit-tree", "-p", from, "-m", "work", sh(t, dir, "", "git", "write-tree"))
			sh(t, dir, "", "git", "reset", "-q")
			sh(t, dir, "", "sh", "-ec", c.user, "sh", to)
			at := map[string]string{"from": from, "to": to, "user": sh(t, dir, "", "git", "rev-parse", "HEAD")}
			moved, err := g.Advance(t.Context(), git.Place{Top: dir}, git.Advance{Branch: "trunk", From: from, To: to, Paths: []string{"a", "gone", "new/b"}})
			if err != nil || moved != c.moved {
				t.Errorf("Advance = %t, %v; want %t", moved, err, c.moved)
			}
			if got := sh(t, dir, "", "git", "rev-parse", "trunk"); got != at[c.at] {
				t.Errorf("trunk is at %s, want %s of %v", got, c.at, at)
			}
			if got := sh(t, dir, "", "git", "status", "--porcelain", "--untracked-files=all"); got != c.status {
				t.Errorf("the status is %q, want %q", got, c.status)
			}
			if got := read(t, filepath.Join(dir, "a")) + read(t, filepath.Join(dir, "new/b")); got != "21" && got != c.edited {
				t.Errorf("the files hold %q", got)
			}
		})
	}
}

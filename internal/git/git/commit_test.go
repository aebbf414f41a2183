package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// Commit commits some paths in a user's own tree, and leaves other work
// uncommitted.
func TestCommit(t *testing.T) {
	g, _ := newGit(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"notes/a.txt": "1", "notes/b.txt": "1", "other.txt": "1", ".gitignore": "private/\n",
	} {
		write(t, filepath.Join(dir, name), text)
	}
	sh(t, dir, "", "git", "init", "-q", "-b", "trunk")
	sh(t, dir, "", "git", "add", "-A")
	sh(t, dir, "", "git", "commit", "-q", "-m", "begin")
	home := t.TempDir()
	g.User = []string{"HOME=" + home}
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n")
	place := must.Get(g.Inspect(t.Context(), dir))(t)

	write(t, filepath.Join(dir, "notes/a.txt"), "2")
	write(t, filepath.Join(dir, "notes/new [x].txt"), "2")
	write(t, filepath.Join(dir, "private/c.txt"), "2")
	write(t, filepath.Join(dir, "staged.txt"), "2")
	must.Do(t, os.Remove(filepath.Join(dir, "notes/b.txt")))
	sh(t, dir, "", "git", "add", "staged.txt")
	what := git.PathCommit{
		Paths: []string{"notes", "private/c.txt"}, Message: git.Message{Subject: "chore: put away"},
	}
	sha := must.Get(g.Commit(t.Context(), place, what))(t)
	if head := sh(t, dir, "", "git", "rev-parse", "trunk"); head != sha || head == place.Head {
		t.Errorf("trunk stands at %s, Commit = %s", head, sha)
	}
	got := sh(t, dir, "", "git", "-c", "core.quotePath=off", "show", "--format=%an <%ae> %s", "--name-status", sha)
	want := "Ada <ada@example.com> chore: put away\n\nM\tnotes/a.txt\nD\tnotes/b.txt\nA\tnotes/new [x].txt"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the commit (-want +got):\n%s", diff)
	}
	if got := sh(t, dir, "", "git", "status", "--porcelain"); got != "A  staged.txt" {
		t.Errorf("status afterwards = %q", got)
	}
	if again := must.Get(g.Commit(t.Context(), place, what))(t); again != sha {
		t.Errorf("with nothing new Commit = %s, want %s", again, sha)
	}
}

// If ralph is killed within a commit, the user's next one does not undo it.
func TestCommitIsCutOff(t *testing.T) {
	for _, stop := range []string{"reset", "update-ref"} {
		g, seen := newGit(t)
		dir := project(t)
		place := must.Get(g.Inspect(t.Context(), dir))(t)
		write(t, filepath.Join(dir, "new"), "1")
		seen.stop = stop
		if sha, err := g.Commit(t.Context(), place, git.PathCommit{Paths: []string{"new"}, Message: git.Message{Subject: "x"}}); err == nil {
			t.Errorf("Commit = %s", sha)
		}
		had := sh(t, dir, "", "git", "ls-tree", "--name-only", "HEAD", "new")
		sh(t, dir, "", "git", "commit", "-q", "--allow-empty", "-m", "a person's")
		if has := sh(t, dir, "", "git", "ls-tree", "--name-only", "HEAD", "new"); had != "" && has == "" {
			t.Errorf("cut off at %s, the next commit removes the file", stop)
		}
	}
}

// What an agent makes outside of a sparse checkout is its work, and what the checkout leaves out is not removed.
func TestWorkOutsideOfASparseCheckout(t *testing.T) {
	f := newField(t, sow(t))
	f.files("kept/file", "1\n")
	f.git("add", ".")
	f.git("commit", "-q", "-m", "kept")
	f.git("sparse-checkout", "set", "ralph")
	f.files("kept/new", "2\n")
	g, _ := newGit(t)
	tree := must.Get(g.Own(t.Context(), git.Place{Top: f.dir}))(t)
	must.Get(must.Get(tree.Inspect(t.Context()))(t).CommitAll(t.Context(), git.Message{Subject: "new"}))(t)
	if got, left := f.git("show", "--format=", "--name-status", "HEAD"), f.git("status", "--porcelain"); got != "A\tkept/new" || left != "" {
		t.Errorf("the commit has %q, and %q is left", got, left)
	}
}

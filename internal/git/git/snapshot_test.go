package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/ralph-loop/ralph/internal/git/git"
)

// Files that the checks made stay out of the commit of the agent's work. The paths
// in Beside are committed as they are.
func TestCommitSnapshot(t *testing.T) {
	l := newLab(t)
	l.commit("books", map[string]string{"ralph/prd.json": "1", "ralph/old": "1"})
	l.tree.Beside = []string{"ralph", "none"}
	write(t, filepath.Join(l.tree.Dir, "README.md"), "by the agent\n")
	held := must.Get(l.tree.Look(t.Context()))(t).Work
	write(t, filepath.Join(l.tree.Dir, "README.md"), "by a check\n")
	write(t, filepath.Join(l.tree.Dir, "coverage.out"), "by a check")
	write(t, filepath.Join(l.tree.Dir, "ralph/prd.json"), "2")
	write(t, filepath.Join(l.tree.Dir, "ralph/new"), "2")
	must.Do(t, os.Remove(filepath.Join(l.tree.Dir, "ralph/old")))
	sha := must.Get(must.Get(l.tree.Inspect(t.Context()))(t).CommitSnapshot(t.Context(), held, git.Message{Subject: "work"}))(t)
	if got, want := l.agent("show", "--format=%H", "--name-status", "work"), sha+"\n\nM\tREADME.md\nA\tralph/new\nD\tralph/old\nM\tralph/prd.json"; got != want {
		t.Errorf("the commit is\n%s\nwant\n%s", got, want)
	}
	if got := l.agent("show", sha+":README.md"); got != "by the agent" {
		t.Errorf("README.md is %q", got)
	}
	if got := l.agent("status", "--porcelain"); got != " M README.md\n?? coverage.out" {
		t.Errorf("left is %q", got)
	}
	if again := must.Get(must.Get(l.tree.Inspect(t.Context()))(t).CommitSnapshot(t.Context(), held, git.Message{Subject: "again"}))(t); again != sha {
		t.Errorf("with nothing new CommitSnapshot = %s, want %s", again, sha)
	}
}

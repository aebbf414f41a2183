package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/run/merging"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// grace commits files on top of a commit as a person, and pushes that to a branch.
func (l *lab) grace(onto, branch string, files map[string]string) string {
	l.Helper()
	dir := l.TempDir()
	l.sh(dir, "git", "clone", "-q", l.remote, ".")
	l.sh(dir, "git", "checkout", "-q", "-B", branch, onto)
	for name, text := range files {
		write(l.T, filepath.Join(dir, name), text)
	}
	l.sh(dir, "git", "add", "-A")
	l.sh(dir, "git", "commit", "-q", "--author=Grace <grace@example.com>", "-m", "by hand")
	l.sh(dir, "git", "push", "-q", "--force", "origin", branch)
	return l.sh(dir, "git", "rev-parse", "HEAD")
}

// shown returns a lab with the work and a person's change, both from the same
// commit of a branch.
func shown(t *testing.T, ours, theirs map[string]string) (l *lab, our, their string) {
	t.Helper()
	l = newLab(t)
	l.commit("ours", ours)
	our = l.take(l.terms()).To
	their = l.grace(l.base, "work", theirs)
	l.refetch()
	return l, our, their
}

func (l *lab) refetch() {
	l.Helper()
	must.Get((remote.Repository{URL: l.remote}).Clone(l.Context(), l.git, l.trusted.Dir, remote.Branches{Base: "main", Work: []string{"work"}}))(l.T)
}

func TestMerge(t *testing.T) {
	l, our, their := shown(t, map[string]string{"a": "1\n"}, map[string]string{"b": "2\n"})
	words := merging.Commits{Ours: our, Theirs: their, Message: git.Message{Subject: "merge", Trailers: []string{"Ralph-Run: r"}}}
	made := must.Get(merging.Merge(t.Context(), l.trusted, words))(t)
	if got := l.in("ls-tree", "--name-only", made.SHA, "a", "b"); got != "a\nb" {
		t.Errorf("the merge has %q of both", got)
	}
	if got := l.in("log", "-1", "--format=%P %T", made.SHA); got != our+" "+their+" "+made.Tree {
		t.Errorf("parents and tree %q", got)
	}
	if again := must.Get(merging.Merge(t.Context(), l.trusted, words))(t); again.SHA != made.SHA {
		t.Errorf("the same two gave %s and %s", made.SHA, again.SHA)
	}
	words.Message.SignOff = true
	signed := must.Get(merging.Merge(t.Context(), l.trusted, words))(t)
	if got := l.in("log", "-1", "--format=%B", signed.SHA); !strings.HasSuffix(got, "Ralph-Run: r\nSigned-off-by: ralph <ralph-loop@users.noreply.github.com>\n") || signed.Tree != made.Tree {
		t.Errorf("signed off: %q", got)
	}
	for _, way := range [][2]string{{our, made.SHA}, {made.SHA, our}, {made.SHA, their}} {
		if got := must.Get(merging.Merge(t.Context(), l.trusted, merging.Commits{Ours: way[0], Theirs: way[1]}))(t); got.SHA != made.SHA || got.Tree != made.Tree {
			t.Errorf("what holds the other is not taken as it is: %+v", got)
		}
	}
	if err := l.tree.Reset(t.Context(), made.SHA); err != nil || l.agent("status", "--porcelain") != "" {
		t.Errorf("the agent's tree does not stand on the merge: %v", err)
	}
}

func TestMergeThatContradicts(t *testing.T) {
	l, our, their := shown(t,
		map[string]string{"a b": "1\n", "src/main.go": "package ours\n", "c": "1\n"},
		map[string]string{"a b": "2\n", "src/main.go": "package theirs\n", "d": "2\n"})
	made := must.Get(merging.Merge(t.Context(), l.trusted, merging.Commits{Ours: our, Theirs: their}))(t)
	if diff := cmp.Diff(merging.Merged{Tree: made.Tree, Conflicts: []string{"a b", "src/main.go"}}, made); diff != "" {
		t.Errorf("Merge (-want +got):\n%s", diff)
	}
	if got := l.in("cat-file", "blob", made.Tree+":a b"); !strings.HasPrefix(got, "<<<<<<< ") || !strings.Contains(got, "1\n=======\n2\n>>>>>>> ") {
		t.Errorf("a file that conflicts is %q", got)
	}
	for _, m := range []merging.Commits{{Ours: our, Theirs: "--upload-pack"}, {Ours: "HEAD", Theirs: their}} {
		if _, err := merging.Merge(t.Context(), l.trusted, m); err == nil {
			t.Errorf("Merge(%v) asks git", m)
		}
	}
}

func TestMade(t *testing.T) {
	l := newLab(t)
	one := l.commit("one\n\nwhy\n", map[string]string{"a": "1"})
	two := l.commit("two", map[string]string{"a": "2"})
	l.take(l.terms())
	want := []git.CommitInfo{
		{SHA: one, Tree: l.in("rev-parse", one+"^{tree}"), Parents: []string{l.base}, Message: "one\n\nwhy\n"},
		{SHA: two, Tree: l.in("rev-parse", two+"^{tree}"), Parents: []string{one}, Message: "two\n"},
	}
	if diff := cmp.Diff(want, must.Get(l.trusted.NewCommits(t.Context(), two, l.base, l.base))(t)); diff != "" {
		t.Errorf("Made (-want +got):\n%s", diff)
	}
	if got := must.Get(l.trusted.NewCommits(t.Context(), two, two))(t); len(got) != 0 {
		t.Errorf("Made gives %v of what is there already", got)
	}
}

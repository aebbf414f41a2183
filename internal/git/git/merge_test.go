package git_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/run/merging"
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
	must((remote.Repository{URL: l.remote}).Clone(l.Context(), l.git, l.trusted.Dir, remote.Branches{Base: "main", Work: []string{"work"}}))(l.T)
}

func TestMerge(t *testing.T) {
	l, our, their := shown(t, map[string]string{"a": "1\n"}, map[string]string{"b": "2\n"})
	words := merging.Commits{Ours: our, Theirs: their, Message: git.Message{Subject: "merge", Trailers: []string{"Ralph-Run: r"}}}
	made := must(merging.Merge(t.Context(), l.trusted, words))(t)
	if got := l.in("ls-tree", "--name-only", made.SHA, "a", "b"); got != "a\nb" {
		t.Errorf("the merge has %q of both", got)
	}
	if got := l.in("log", "-1", "--format=%P %T", made.SHA); got != our+" "+their+" "+made.Tree {
		t.Errorf("parents and tree %q", got)
	}
	if again := must(merging.Merge(t.Context(), l.trusted, words))(t); again.SHA != made.SHA {
		t.Errorf("the same two gave %s and %s", made.SHA, again.SHA)
	}
	words.Message.SignOff = true
	signed := must(merging.Merge(t.Context(), l.trusted, words))(t)
	if got := l.in("log", "-1", "--format=%B", signed.SHA); !strings.HasSuffix(got, "Ralph-Run: r\nSigned-off-by: ralph <ralph-loop@users.noreply.github.com>\n") || signed.Tree != made.Tree {
		t.Errorf("signed off: %q", got)
	}
	for _, way := range [][2]string{{our, made.SHA}, {made.SHA, our}, {made.SHA, their}} {
		if got := must(merging.Merge(t.Context(), l.trusted, merging.Commits{Ours: way[0], Theirs: way[1]}))(t); got.SHA != made.SHA || got.Tree != made.Tree {
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
	made := must(merging.Merge(t.Context(), l.trusted, merging.Commits{Ours: our, Theirs: their}))(t)
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

func TestUnrelatedHistoriesAreNotMerged(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	l.sh(dir, "git", "init", "-q", "-b", "work")
	l.sh(dir, "git", "commit", "-q", "--allow-empty", "-m", "anew")
	l.sh(dir, "git", "push", "-q", l.remote, "work")
	anew := l.sh(dir, "git", "rev-parse", "HEAD")
	l.refetch()
	made, err := merging.Merge(t.Context(), l.trusted, merging.Commits{Ours: l.base, Theirs: anew})
	if err != nil || made.SHA != "" || len(made.Conflicts) != 1 {
		t.Errorf("Merge = %+v, %v, want a conflict", made, err)
	}
}

func TestAuthors(t *testing.T) {
	l, _, their := shown(t, map[string]string{"a": "1\n"}, map[string]string{"b": "2\n"})
	if diff := cmp.Diff([]string{"Grace"}, must(merging.Authors(t.Context(), l.trusted, git.Span{From: l.base, To: their}))(t)); diff != "" {
		t.Errorf("Authors (-want +got):\n%s", diff)
	}
}

// Work that cannot be pushed is saved to a file, and a commit on no branch can be
// fetched.
func TestBundleAndBring(t *testing.T) {
	l := newLab(t)
	our := l.commit("ours", map[string]string{"a": "1\n"})
	l.take(l.terms())
	var file bytes.Buffer
	if err := remote.Bundle(t.Context(), l.trusted, &file, "work", git.Span{From: l.base, To: our}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "work.bundle")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	l.sh(l.remote, "git", "fetch", "-q", name, "work:rescued")
	if got := l.sh(l.remote, "git", "rev-parse", "rescued"); got != our {
		t.Errorf("the bundle holds %s, want %s", got, our)
	}

	lost := l.grace(l.base, "work", map[string]string{"b": "2"})
	l.grace(l.base, "work", map[string]string{"c": "3"})
	if err := (remote.Repository{URL: l.remote}).Fetch(t.Context(), l.trusted, lost); err != nil || !l.has(lost) {
		t.Errorf("Bring = %v", err)
	}
	if (remote.Repository{URL: l.remote}).Fetch(t.Context(), l.trusted, strings.Repeat("1", 40)) == nil {
		t.Error("what is nowhere was brought")
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
	if diff := cmp.Diff(want, must(l.trusted.NewCommits(t.Context(), two, l.base, l.base))(t)); diff != "" {
		t.Errorf("Made (-want +got):\n%s", diff)
	}
	if got := must(l.trusted.NewCommits(t.Context(), two, two))(t); len(got) != 0 {
		t.Errorf("Made gives %v of what is there already", got)
	}
	to := remote.Repository{URL: l.remote}
	for _, sha := range []string{two, one} { // instead of what was there
		if err := to.PushRef(t.Context(), l.trusted, "refs/ralph/unsigned-1", sha); err != nil || l.sh(l.remote, "git", "rev-parse", "refs/ralph/unsigned-1") != sha {
			t.Errorf("Lay = %v", err)
		}
	}
	if to.PushRef(t.Context(), l.trusted, "refs/heads/main", two) == nil {
		t.Error("Lay forces a branch")
	}
}

// A commit that is rewritten for its message keeps its tree, and so its proof.
func TestSignOff(t *testing.T) {
	l := newLab(t)
	terms := l.terms()
	terms.SignOff = true
	l.commit("one", map[string]string{"a": "1"})
	l.commit("two\n\nwhy: it is so\n\nRefs: 1\nSigned-off-by: A <a@example.com>", map[string]string{"a": "2"})
	three := l.commit("three\n\nRefs: 1", map[string]string{"a": "3"})
	tree := l.agent("rev-parse", three+"^{tree}")
	taken := l.take(terms)
	if taken.Tree != tree || taken.To == three || len(taken.Commits) != 3 {
		t.Fatalf("taken %+v, want three commits made again with the tree %s", taken, tree)
	}
	const vouch = "Signed-off-by: " + program
	want := []string{"three\n\nRefs: 1\n" + vouch, "two\n\nwhy: it is so\n\nRefs: 1\n" + vouch, "one\n\n" + vouch}
	var got []string
	for _, c := range taken.Commits {
		got = append([]string{strings.TrimSpace(l.in("log", "-1", "--format=%B", c.SHA))}, got...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if err := l.tree.Reset(t.Context(), taken.To); err != nil {
		t.Fatal(err)
	}
	terms.Last = taken.To
	if again := l.take(terms); again.To != taken.To || again.From != taken.To {
		t.Errorf("taken again: %+v", again)
	}
}

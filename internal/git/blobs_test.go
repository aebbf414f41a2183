package git_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git"
)

// changed is what Changes told, as text; -: not there; unread: too large.
func changed(files []git.Changed) []string {
	var all []string
	side := func(data []byte) string {
		if data == nil {
			return "-"
		}
		return string(data)
	}
	for _, f := range files {
		line := f.Path + " " + side(f.Before) + " " + side(f.After)
		if f.Unread {
			line += "unread"
		}
		all = append(all, line)
	}
	return all
}

// Content comes as it is, of regular files alone; nothing that the repository
// configures has a hand in it.
func TestChanges(t *testing.T) {
	g, _ := newGit(t)
	dir := project(t)
	base := must(g.Named(t.Context(), dir, "HEAD"))(t)
	for name, text := range map[string]string{"b c": "new\n", "a": "2", "empty": "", "large": strings.Repeat("x", 1<<20+1), ".gitattributes": "* diff=evil filter=evil\n"} {
		write(t, filepath.Join(dir, name), text)
	}
	evil := filepath.Join(t.TempDir(), "ran")
	for _, key := range []string{"diff.evil.textconv", "diff.evil.command", "filter.evil.smudge", "diff.external", "core.fsmonitor"} {
		sh(t, dir, "", "git", "config", key, "touch "+evil+"; cat")
	}
	sh(t, dir, "", "ln", "-s", "/etc/passwd", "link")
	tree, top, err := g.WorkTree(t.Context(), filepath.Join(dir))
	if err != nil {
		t.Fatal(err)
	}
	files := must(g.Changes(t.Context(), top, git.Span{From: base, To: tree}))(t)
	want := []string{".gitattributes - * diff=evil filter=evil\n", "a 1 2", "b c - new\n", "empty - ", "large - unread"}
	if diff := cmp.Diff(want, changed(files)); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
	files = must(g.Changes(t.Context(), top, git.Span{From: tree, To: base}))(t)
	if diff := cmp.Diff([]string{"a 2 1", "b c new\n -"}, changed(files)[1:3]); diff != "" {
		t.Errorf("Changes back (-want +got):\n%s", diff)
	}
	if status := sh(t, dir, "", "git", "-c", "core.fsmonitor=false", "status", "--porcelain", "a"); status != " M a" {
		t.Errorf("the index was touched: %q", status)
	}
	if ran, err := filepath.Glob(evil); err != nil || len(ran) > 0 {
		t.Error("what the repository configures was run")
	}
}

// The trusted repository tells the same.
func TestTrustedChanges(t *testing.T) {
	l := newLab(t)
	tip := l.commit("work", map[string]string{"src/main.go": "package other\n", "README.md": ""})
	if got := l.take(l.terms()); len(got.Refused) > 0 {
		t.Fatalf("Take = %+v", got)
	}
	files := must(l.trusted.Changes(t.Context(), git.Span{From: l.base, To: tip}))(t)
	want := []string{"README.md # a project\n -", "src/main.go package main\n package other\n"}
	if diff := cmp.Diff(want, changed(files)); diff != "" {
		t.Errorf("Changes (-want +got):\n%s", diff)
	}
	if none, err := l.trusted.Changes(t.Context(), git.Span{From: l.base, To: "HEAD"}); err == nil {
		t.Errorf("Changes of a name = %v", none)
	}
}

// Work begins where it left the default branch, however that is called, or
// else at the commit before.
func TestFork(t *testing.T) {
	g, _ := newGit(t)
	dir := project(t)
	first := must(g.Named(t.Context(), dir, "HEAD"))(t)
	if base, err := g.Fork(t.Context(), dir, first); err == nil {
		t.Errorf("Fork of the first commit = %s", base)
	}
	commit := func() string {
		sh(t, dir, "", "git", "commit", "-q", "--allow-empty", "-m", "more")
		return sh(t, dir, "", "git", "rev-parse", "HEAD")
	}
	second := commit()
	fork := func(head, want string) {
		t.Helper()
		if base := must(g.Fork(t.Context(), dir, head))(t); base != want {
			t.Errorf("Fork(%.7s) = %.7s, want %.7s", head, base, want)
		}
	}
	fork(second, first)
	sh(t, dir, "", "git", "switch", "-q", "-c", "work")
	commit()
	third := commit()
	fork(third, second)
	sh(t, dir, "", "git", "update-ref", "refs/remotes/origin/develop", first)
	sh(t, dir, "", "git", "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop")
	fork(third, first)
	for _, rev := range []string{"nowhere", "--all", "HEAD:a", ""} {
		if sha, err := g.Named(t.Context(), dir, rev); err == nil {
			t.Errorf("Named(%q) = %s", rev, sha)
		}
	}
}

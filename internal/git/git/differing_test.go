package git_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
)

// Compare returns whether a path existed before, and Diff returns its change as
// lines of a patch.
func TestDiffering(t *testing.T) {
	l := newLab(t)
	tip := l.commit("work", map[string]string{"src/main.go": "package other\n", "README.md": "", "new file": "one\n"})
	if got := l.take(l.terms()); len(got.Refused) > 0 {
		t.Fatalf("Take = %+v", got)
	}
	span := git.Span{From: l.base, To: tip}
	got := map[string]bool{}
	for _, c := range must(l.trusted.Compare(t.Context(), span))(t) {
		got[c.Path] = c.Was()
	}
	if diff := cmp.Diff(map[string]bool{"README.md": true, "new file": false, "src/main.go": true}, got); diff != "" {
		t.Errorf("Compare (-want +got):\n%s", diff)
	}
	if none, err := l.trusted.Compare(t.Context(), git.Span{From: l.base, To: "HEAD"}); err == nil {
		t.Errorf("Compare of a name = %v", none)
	}
	text, cut, err := l.trusted.Diff(t.Context(), span, 1<<20, "src/main.go")
	if err != nil || cut || !strings.Contains(text, "-package main\n+package other\n") || strings.Contains(text, "README") {
		t.Errorf("Diff of one path = %q, %v, %v", text, cut, err)
	}
}

// FilesMatching searches all files, as they are in the requested commit.
func TestHolding(t *testing.T) {
	l := newLab(t)
	tip := l.commit("work", map[string]string{"src/main.go": "package other // mark\n", "new file": "mark\n", "README.md": "nothing\n"})
	if got := l.take(l.terms()); len(got.Refused) > 0 {
		t.Fatalf("Take = %+v", got)
	}
	for name, c := range map[string]struct {
		commit, expression string
		want               []string
	}{
		"both":    {tip, "(ma|xx)rk", []string{"new file", "src/main.go"}},
		"a start": {tip, "none|^mark$", []string{"new file"}},
		"not yet": {l.base, "mark", nil},
	} {
		if diff := cmp.Diff(c.want, must(l.trusted.FilesMatching(t.Context(), c.commit, c.expression))(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if found, err := l.trusted.FilesMatching(t.Context(), tip, "("); err == nil {
		t.Errorf("an expression that cannot be read found %q", found)
	}
}

// Named accepts each way in which a user names a commit, and refuses other text.
func TestNamed(t *testing.T) {
	g, _ := newGit(t)
	dir := project(t)
	if sha := must(g.Named(t.Context(), dir, "HEAD"))(t); len(sha) != 40 {
		t.Errorf("Named(HEAD) = %q", sha)
	}
	for _, rev := range []string{"nowhere", "--all", "HEAD:a", ""} {
		if sha, err := g.Named(t.Context(), dir, rev); err == nil {
			t.Errorf("Named(%q) = %s", rev, sha)
		}
	}
}

// An annotated or lightweight tag stands for a commit, but no tag with the same
// end of its name.
func TestTag(t *testing.T) {
	g, _ := newGit(t)
	dir := t.TempDir()
	sh(t, dir, "", "git", "init", "-q")
	sh(t, dir, "", "git", "commit", "-q", "--allow-empty", "-m", "a release")
	head := must(g.Named(t.Context(), dir, "HEAD"))(t)
	sh(t, dir, "", "git", "tag", "v1.2.3")
	sh(t, dir, "", "git", "tag", "-a", "-m", "annotated", "v1.2.4")
	sh(t, dir, "", "git", "tag", "other/refs/tags/v9")
	for tag, want := range map[string]string{"v1.2.3": head, "v1.2.4": head, "v9": "", "v1": ""} {
		if got := must(remote.Repository{URL: dir}.Tag(t.Context(), g, tag))(t); got != want {
			t.Errorf("Tag(%s) = %q, want %q", tag, got, want)
		}
	}
}

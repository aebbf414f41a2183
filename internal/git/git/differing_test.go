package git_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/google/go-cmp/cmp"
)

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
		if diff := cmp.Diff(c.want, must.Get(l.trusted.FilesMatching(t.Context(), c.commit, c.expression))(t)); diff != "" {
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
	if sha := must.Get(g.Named(t.Context(), dir, "HEAD"))(t); len(sha) != 40 {
		t.Errorf("Named(HEAD) = %q", sha)
	}
	for _, rev := range []string{"nowhere", "--all", "HEAD:a", ""} {
		if sha, err := g.Named(t.Context(), dir, rev); err == nil {
			t.Errorf("Named(%q) = %s", rev, sha)
		}
	}
}

package git_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/process"
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

// FilesMatching searches only the requested paths, as they are in the requested
// commit.
func TestHolding(t *testing.T) {
	l := newLab(t)
	tip := l.commit("work", map[string]string{"src/main.go": "package other // mark\n", "new file": "mark\n", "README.md": "nothing\n"})
	if got := l.take(l.terms()); len(got.Refused) > 0 {
		t.Fatalf("Take = %+v", got)
	}
	for name, c := range map[string]struct {
		commit, expression string
		paths, want        []string
	}{
		"both":          {tip, "(ma|xx)rk", []string{"src/main.go", "new file", "README.md"}, []string{"new file", "src/main.go"}},
		"one asked for": {tip, "mark", []string{"new file"}, []string{"new file"}},
		"not yet":       {l.base, "mark", []string{"src/main.go", "new file"}, nil},
		"none asked":    {tip, "mark", nil, nil},
	} {
		if diff := cmp.Diff(c.want, must(l.trusted.FilesMatching(t.Context(), c.commit, []string{c.expression}, c.paths))(t)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if found, err := l.trusted.FilesMatching(t.Context(), tip, []string{"("}, []string{"README.md"}); err == nil {
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

// git reads a file once for each line of expressions, so there is only one.
func TestManyExpressionsAreOneLine(t *testing.T) {
	g, _ := newGit(t)
	run, lines := g.Run, 0
	g.Run = func(ctx context.Context, c process.Command) (process.Result, error) {
		if slices.Contains(c.Argv, "grep") {
			text := must(io.ReadAll(c.Stdin))(t)
			lines += bytes.Count(text, []byte("\n")) + 1
			c.Stdin = bytes.NewReader(text)
		}
		return run(ctx, c)
	}
	top := project(t)
	write(t, filepath.Join(top, "one"), "a mark\n")
	write(t, filepath.Join(top, "two"), "no mark\n")
	sh(t, top, "", "git", "add", "-A")
	sh(t, top, "", "git", "commit", "-qm", "more")
	trusted, span := borrowed(t, g, top)
	found := must(trusted.FilesMatching(t.Context(), span.To, []string{"none|xx", "^a", "^mark$"}, []string{"one", "two"}))(t)
	if !slices.Equal(found, []string{"one"}) || lines != 1 {
		t.Errorf("found %q by %d lines", found, lines)
	}
}

// An agent can change more files than a command line takes.
func TestFilesMatchingOfMany(t *testing.T) {
	l := newLab(t)
	many := make([]string, 30_000)
	for i := range many {
		many[i] = fmt.Sprintf("%s%d.go", strings.Repeat("long/", 20), i)
	}
	for path, want := range map[string]int{"src/main.go": 1, "src/other.go": 0} {
		if found := must(l.trusted.FilesMatching(t.Context(), l.base, []string{"package"}, append(many, path)))(t); len(found) != want {
			t.Errorf("found %q", found)
		}
	}
}

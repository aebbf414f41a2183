package git_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git"
)

// What is asked of the same two commits again takes no git, whoever asks.
func TestTrustedAsksOnce(t *testing.T) {
	l := newLab(t)
	one := l.commit("one", map[string]string{"README.md": "# changed\n", "CODEOWNERS": "* @ada\n", "tests/a.sh": "true\n"})
	terms := l.terms()
	terms.Protect = nil
	l.take(terms)
	ask := func(to string) (said []any) {
		span := git.Span{From: l.base, To: to}
		names := must(l.trusted.Names(t.Context(), span))(t)
		touched := must(l.trusted.Touched(t.Context(), span))(t)
		guarded := must(l.trusted.Guarded(t.Context(), span, []string{"CODEOWNERS"}))(t)
		return []any{names, touched, guarded, must(l.trusted.Differing(t.Context(), span))(t)}
	}
	first := ask(one)
	known := l.seen.started("merge-base") + l.seen.started("diff-tree")
	again := ask(one)
	if now := l.seen.started("merge-base") + l.seen.started("diff-tree"); now != known {
		t.Errorf("%d gits were started for what was known", now-known)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("asked again it says otherwise (-first +again):\n%s", diff)
	}
	two := l.commit("two", map[string]string{"tests/b.sh": "true\n"})
	terms.Last = one
	l.take(terms)
	if names := must(l.trusted.Names(t.Context(), git.Span{From: l.base, To: two}))(t); len(names) != 4 {
		t.Errorf("Names of a later commit = %q, want the four files", names)
	}
}

// Who wants to read less of a file than was read of it is told as if nobody had
// read it.
func TestTrustedKeepsToLimits(t *testing.T) {
	l := newLab(t)
	at := git.At{Commit: l.base, Path: "README.md"}
	text := must(l.trusted.ReadFile(t.Context(), at, 100))(t)
	text[0] = 'x' // is the reader's own
	if again := must(l.trusted.ReadFile(t.Context(), at, 50))(t); string(again) != "# a project\n" {
		t.Errorf("read again it is %q", again)
	}
	if n := l.seen.started("cat-file"); n != 1 {
		t.Errorf("it was read %d times, want once", n)
	}
	if text, err := l.trusted.ReadFile(t.Context(), at, 5); err == nil {
		t.Errorf("read %q, want an error: it is longer than was asked for", text)
	}
}

// What failed is asked again.
func TestTrustedAsksAgain(t *testing.T) {
	l := newLab(t)
	one := l.commit("one", map[string]string{"a": "1"})
	span := git.Span{From: l.base, To: one}
	if names, err := l.trusted.Names(t.Context(), span); err == nil {
		t.Fatalf("Names of what did not come over = %q, want an error", names)
	}
	l.take(l.terms())
	if diff := cmp.Diff([]string{"a"}, must(l.trusted.Names(t.Context(), span))(t)); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
}

// A checkout takes two gits: one makes the repository, one brings the files.
func TestGrowTakesTwo(t *testing.T) {
	l := newLab(t)
	for name, branch := range map[string]string{"on a branch": "work", "on none": ""} {
		before := len(l.seen.argv)
		must(l.trusted.Grow(t.Context(), git.Plot{Dir: filepath.Join(t.TempDir(), "tree"), SHA: l.base, Branch: branch}))(t)
		if started := l.seen.argv[before:]; len(started) != 2 {
			t.Errorf("%s: started %q, want two", name, started)
		}
	}
}

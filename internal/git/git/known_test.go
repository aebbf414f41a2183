package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
)

func TestNamedObjectsAreAskedForOnce(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a": "1"})
	span := git.Span{From: l.base, To: l.take(l.terms()).To}
	type read struct {
		File                  string
		Files, Matching, None []string
		Listed                []git.TreeEntry
		Changes               []git.Change
	}
	look := func() (got read, calls int) {
		before := len(l.seen.argv)
		file := must(l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 100))(t)
		got = read{
			File:     string(file),
			Files:    must(l.trusted.Files(t.Context(), l.base))(t),
			Matching: must(l.trusted.FilesMatching(t.Context(), l.base, "pack.ge"))(t),
			None:     must(l.trusted.FilesMatching(t.Context(), l.base, "nowhere"))(t),
			Listed:   must(l.trusted.ListAll(t.Context(), l.base))(t),
			Changes:  must(l.trusted.Compare(t.Context(), span))(t),
		}
		clear(file) // is the caller's own
		return got, len(l.seen.argv) - before
	}
	first, asked := look()
	if asked == 0 || first.File != "package main\n" || len(first.Matching) != 1 || len(first.None) != 0 || len(first.Changes) != 1 {
		t.Fatalf("read %+v with %d calls", first, asked)
	}
	again, calls := look()
	if diff := cmp.Diff(first, again); diff != "" || calls != 0 {
		t.Errorf("%d calls, want none (-first +again):\n%s", calls, diff)
	}
	must(l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 13))(t)
	if _, err := l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 12); err == nil {
		t.Error("a file that was read before is longer than its reader wanted")
	}
}

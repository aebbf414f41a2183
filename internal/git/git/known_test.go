package git_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/must"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
)

func TestNamedObjectsAreAskedForOnce(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{"a": "1"})
	span := git.Span{From: l.base, To: l.take(l.terms()).To}
	look := func() (answers []any, calls int) {
		before := len(l.seen.argv)
		file := must.Get(l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 100))(t)
		answers = append(answers, string(file))
		clear(file) // is the caller's own
		answers = append(answers, must.Get(l.trusted.FilesMatching(t.Context(), l.base, "pack.ge"))(t))
		answers = append(answers, must.Get(l.trusted.FilesMatching(t.Context(), l.base, "nowhere"))(t))
		answers = append(answers, must.Get(l.trusted.ListAll(t.Context(), l.base))(t))
		answers = append(answers, must.Get(l.trusted.Compare(t.Context(), span))(t))
		return answers, len(l.seen.argv) - before
	}
	first, asked := look()
	again, calls := look()
	if diff := cmp.Diff(first, again); diff != "" || first[0] != "package main\n" || asked == 0 || calls != 0 {
		t.Errorf("%d calls, then %d, want none (-first +again):\n%s", asked, calls, diff)
	}
	must.Get(l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 13))(t)
	if _, err := l.trusted.ReadFile(t.Context(), git.At{Commit: l.base, Path: "src/main.go"}, 12); err == nil {
		t.Error("a file that was read before is longer than its reader wanted")
	}
}

package git_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
)

// Work without its workflows is one commit on the merge base with the base branch,
// and the same each time.
func TestRest(t *testing.T) {
	const folder = ".github/workflows"
	l := newLab(t)
	terms := l.terms()
	terms.Protect = nil
	l.commit("one", map[string]string{"a": "1\n", folder + "/ci.yml": "on: [push, pull_request]\n", folder + "/new.yml": "on: push\n"})
	l.commit("two", map[string]string{"b": "2\n", "src/main.go": ""})
	work := l.take(terms).To
	moved := l.grace(l.base, "main", map[string]string{"c": "3\n"})
	l.refetch()
	span, message := git.Span{From: moved, To: work}, git.Message{Subject: "the rest", Trailers: []string{"Ralph-Run: r"}, SignOff: true}
	rest := must(l.trusted.LeaveOut(t.Context(), span, folder, message))(t)
	if diff := cmp.Diff([]string{folder + "/ci.yml", folder + "/new.yml"}, rest.Left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	if got := l.in("log", "--format=%s", l.base+".."+rest.SHA); got != "the rest" || l.in("rev-parse", rest.SHA+"^") != l.base {
		t.Errorf("the rest is %q on %s, want one commit on %s", got, l.in("rev-parse", rest.SHA+"^"), l.base)
	}
	if got := l.in("diff", "--name-status", l.base, rest.SHA); got != "A\ta\nA\tb\nD\tsrc/main.go" {
		t.Errorf("the rest changes %q", got)
	}
	if body := l.in("log", "-1", "--format=%b", rest.SHA); !strings.HasPrefix(body, "Ralph-Run: r\nSigned-off-by: ") {
		t.Errorf("the message goes on with %q", body)
	}
	if again := must(l.trusted.LeaveOut(t.Context(), span, folder, message))(t); again.SHA != rest.SHA {
		t.Errorf("the second time it is %s, want %s", again.SHA, rest.SHA)
	}
	for folder, left := range map[string]int{".github": 2, "docs": 0} {
		if got := must(l.trusted.LeaveOut(t.Context(), span, folder, message))(t); len(got.Left) != left || (got.SHA == "") != (left == 0) {
			t.Errorf("without %s the rest is %+v, want %d files left out", folder, got, left)
		}
	}
}

// Without other changes, no commit remains.
func TestRestOfNothing(t *testing.T) {
	l := newLab(t)
	l.commit("one", map[string]string{".github/workflows/new.yml": "on: push\n"})
	terms := l.terms()
	terms.Protect = nil
	rest := must(l.trusted.LeaveOut(t.Context(), git.Span{From: l.base, To: l.take(terms).To}, ".github/workflows", git.Message{}))(t)
	if rest.SHA != "" || len(rest.Left) != 1 {
		t.Errorf("Rest = %+v, want none and what was left out", rest)
	}
	if _, err := l.trusted.LeaveOut(t.Context(), git.Span{From: "main", To: l.base}, "", git.Message{}); err == nil {
		t.Error("Rest of a branch's name = nil")
	}
}

func TestLayAndLift(t *testing.T) {
	const ref = "refs/ralph/unsigned-1"
	l := newLab(t)
	to := remote.Repository{URL: l.remote}
	at := func() string { return l.sh(l.remote, "git", "for-each-ref", "--format=%(objectname)", ref) }
	if err := to.PushRef(t.Context(), l.trusted, ref, l.base); err != nil || at() != l.base {
		t.Errorf("Lay = %v; it stands at %q", err, at())
	}
	if err := to.DeleteRef(t.Context(), l.trusted, remote.Ref{Name: ref}); err != nil || at() != "" {
		t.Errorf("Lift = %v; it stands at %q", err, at())
	}
	if err := to.DeleteRef(t.Context(), l.trusted, remote.Ref{Name: "refs/heads/main"}); err == nil || errors.Is(err, remote.ErrRefused) {
		t.Errorf("Lift of a branch = %v", err)
	}
}

package git_test

import (
	"errors"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/remote"
)

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

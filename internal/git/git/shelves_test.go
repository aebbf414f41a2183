package git_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/git/remote"
)

// A saved run is listed with the time of its last change, and deleted only if it
// has not changed since.
func TestShelvesAreDroppedAsTheyWereSeen(t *testing.T) {
	l := newLab(t)
	to, writer, sweeper := remote.Repository{URL: l.remote}, store(t, l), store(t, l)
	deposit := func(ref, onto, text string, at int64) string {
		sha, err := to.PushFiles(t.Context(), writer, remote.Files{Ref: ref, Parent: onto, Files: map[string][]byte{"journal.jsonl": []byte(text)}, Subject: "kept", At: time.Unix(at, 0)})
		if err != nil {
			t.Fatal(err)
		}
		return sha
	}
	old := deposit("refs/ralph/issue-1", "", "old", 1)
	old = deposit("refs/ralph/issue-1", old, "older no more", 100)
	two := deposit("refs/ralph/issue-2", "", "two", 200)
	l.sh(l.remote, "git", "update-ref", "refs/ralph/deep/er", l.base)
	l.sh(l.remote, "git", "update-ref", "refs/ralph/blob", l.sh(l.remote, "git", "rev-parse", l.base+":README.md"))
	found, err := to.FetchRefs(t.Context(), sweeper)
	if err != nil {
		t.Fatal(err)
	}
	want := []remote.Ref{{Name: "refs/ralph/issue-1", Commit: old, At: time.Unix(100, 0).UTC()}, {Name: "refs/ralph/issue-2", Commit: two, At: time.Unix(200, 0).UTC()}}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Fatalf("Shelves (-want +got):\n%s", diff)
	}
	if text, err := remote.ReadFiles(t.Context(), sweeper, old); err != nil || string(text["journal.jsonl"]) != "older no more" {
		t.Errorf("what is on it is %q, %v", text, err)
	}
	deposit("refs/ralph/issue-2", two, "three", 300)
	if err := to.DeleteRef(t.Context(), sweeper, found[1]); !errors.Is(err, remote.ErrNonFastForward) {
		t.Errorf("one that was written to since: %v", err)
	}
	if err := to.DeleteRef(t.Context(), sweeper, found[0]); err != nil {
		t.Error(err)
	}
	for _, ref := range []string{"refs/heads/main", "refs/ralph/../heads/main", "--force", ""} {
		if err := to.DeleteRef(t.Context(), sweeper, remote.Ref{Name: ref, Commit: l.base}); err == nil {
			t.Errorf("%q was dropped", ref)
		}
	}
	if left := l.sh(l.remote, "git", "for-each-ref", "--format=%(refname)", "refs/ralph/issue-*", "refs/heads"); left != "refs/heads/main\nrefs/ralph/issue-2" {
		t.Errorf("left are %q", left)
	}
}

package git_test

import (
	"path/filepath"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/remote"
)

// No program of the user's repository runs when work is brought there: neither for its alternates nor for the address.
func TestDeliverStartsNothing(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	sha := l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	beside, canary := filepath.Join(t.TempDir(), "beside.git"), filepath.Join(t.TempDir(), "canary")
	l.sh(work, "git", "clone", "-q", "--bare", ".", beside)
	write(t, filepath.Join(work, ".git/objects/info/alternates"), beside+"/objects\n")
	l.sh(work, "git", "config", "core.alternateRefsCommand", "echo alternates >> "+canary+"; true")
	l.sh(work, "git", "config", "remote.file://"+l.trusted.Dir+".uploadpack", "echo uploadpack >> "+canary+"; git-upload-pack")
	if err := remote.Deliver(t.Context(), l.trusted, place, "work", sha); err != nil {
		t.Fatal(err)
	}
	if exists(canary) {
		t.Errorf("it ran: %q", read(t, canary))
	}
}

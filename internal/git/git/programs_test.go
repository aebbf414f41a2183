package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git/remote"
)

// No program for the alternates of the user's repository runs when work is brought there.
func TestDeliverStartsNothing(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	sha := l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	beside, canary := filepath.Join(t.TempDir(), "beside.git"), filepath.Join(t.TempDir(), "canary")
	l.sh(work, "git", "clone", "-q", "--bare", ".", beside)
	write(t, filepath.Join(work, ".git/objects/info/alternates"), beside+"/objects\n")
	l.sh(work, "git", "config", "core.alternateRefsCommand", "echo alternates >> "+canary+"; true")
	if err := remote.Deliver(t.Context(), l.trusted, place, "work", sha); err != nil {
		t.Fatal(err)
	}
	if exists(canary) {
		t.Errorf("it ran: %q", read(t, canary))
	}
}

// What people set to have git see their files as they do holds for ralph, too, also where a setting has no value.
func TestPlainSettingsHold(t *testing.T) {
	g, _ := newGit(t)
	dir := t.TempDir()
	sh(t, dir, "", "git", "init", "-q", "-b", "trunk")
	write(t, filepath.Join(dir, "a.txt"), "1\r\n")
	write(t, filepath.Join(dir, "deep/b"), "1")
	sh(t, dir, "", "git", "add", "-A")
	sh(t, dir, "", "git", "commit", "-q", "-m", "begin")
	sh(t, dir, "", "git", "sparse-checkout", "set", "--cone", "none") // in config.worktree
	sh(t, dir, "", "git", "config", "core.excludesFile", `/a "b"\c`)
	write(t, filepath.Join(dir, ".git/config"), read(t, filepath.Join(dir, ".git/config"))+"[core]\n\tsparseCheckout\n\tfileMode = false\n")
	if err := os.Chmod(filepath.Join(dir, "a.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	sh(t, dir, "", "git", "config", "core.sharedRepository", "group")
	place := must(g.Inspect(t.Context(), dir))(t)
	if len(place.Dirty) > 0 || exists(filepath.Join(dir, "deep")) {
		t.Errorf("Dirty = %q", place.Dirty)
	}
	err := g.SwitchNew(t.Context(), place, "shared/work")
	if info, failed := os.Stat(filepath.Join(dir, ".git/refs/heads/shared")); errors.Join(err, failed) != nil || info.Mode().Perm()&0o070 != 0o070 {
		t.Errorf("the group cannot write a ref: %v, %v", info, errors.Join(err, failed))
	}
}

// The main work tree has its own name, also where git takes ralph's common folder for it.
func TestTheMainWorkTreeIsNamed(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	sha := l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	linked := must(l.git.AddWorktree(t.Context(), place, "ralph/loop"))(t)
	there := must(l.git.Inspect(t.Context(), linked.Dir))(t)
	if err := remote.Deliver(t.Context(), l.trusted, there, place.Branch, sha); err == nil || !strings.HasSuffix(errors.Unwrap(err).Error(), "checked out at '"+work+"'") {
		t.Errorf("Deliver: %v", err)
	}
}

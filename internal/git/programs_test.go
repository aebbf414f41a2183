package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/git"
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

// Newer versions of git write refs where a setting says, which can be another repository.
func TestInspectRefusesRefsElsewhere(t *testing.T) {
	l := newLab(t)
	work, _ := l.desk()
	l.sh(work, "git", "config", "extensions.refStorage", "files:///elsewhere")
	if _, err := l.git.Inspect(t.Context(), work); !errors.As(err, new(*git.Unreadable)) { // a run would go on without git
		t.Errorf("Inspect: %v, want that it is unreadable", err)
	}
}

// git reads the settings of a repository only where it is asked for them and where it finds the repository: all else
// succeeds with settings that cannot be read, and runs no hook. So it does not matter what a setting can start.
func TestGitReadsNoForeignSettings(t *testing.T) {
	l := newLab(t)
	work, _ := l.desk()
	sha := l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	canary := filepath.Join(t.TempDir(), "canary")
	for _, hook := range []string{"reference-transaction", "post-checkout", "post-index-change"} {
		write(t, filepath.Join(work, ".git/hooks", hook), "#!/bin/sh\ntouch "+canary+"\n")
		if err := os.Chmod(filepath.Join(work, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(work, ".git/info/attributes"), "* filter=f\n")
	ctx, message := t.Context(), git.Message{Subject: "x"}
	place := must(l.git.Inspect(ctx, work))(t)
	tree := must(l.git.Own(ctx, place))(t)
	settings := read(t, filepath.Join(work, ".git/config"))
	write(t, filepath.Join(work, ".git/config"), "[broken\n")

	if err := remote.Deliver(ctx, l.trusted, place, "work", sha); err != nil {
		t.Error(err)
	}
	worktree := must(l.git.AddWorktree(ctx, place, "ralph/loop"))(t)
	if err := l.git.SwitchNew(ctx, place, "ralph/new"); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(work, "b"), "1")
	must(l.git.Commit(ctx, place, git.PathCommit{Paths: []string{"b"}, Message: message}))(t)
	tree.Beside = []string{"memory"}
	write(t, filepath.Join(work, "memory/c"), "1")
	write(t, filepath.Join(work, "d"), "1")
	seen := must(tree.Inspect(ctx))(t)
	snapshot := must(seen.Work(ctx))(t)
	changes := must(git.Compare(ctx, tree.Do, git.Span{From: place.Head, To: snapshot}))(t)
	must(tree.LeaveOut(ctx, changes))(t)
	snapshot = must(tree.Without(ctx, snapshot, changes))(t)
	must(seen.CommitSnapshot(ctx, snapshot, message))(t)
	must(must(tree.Inspect(ctx))(t).CommitAll(ctx, message))(t)
	if err := tree.Restore(ctx, sha); err != nil {
		t.Error(err)
	}
	if err := tree.Reset(ctx, place.Head); err != nil {
		t.Error(err)
	}

	write(t, filepath.Join(work, ".git/config"), settings+"[filter \"f\"]\n\tclean = \"touch "+canary+"; cat\"\n")
	must(l.git.RemoveWorktree(ctx, place, worktree))(t)
	if exists(canary) {
		t.Error("a program of the repository ran")
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
	if at := must(l.git.CheckedOut(t.Context(), there, place.Branch))(t); at != work {
		t.Errorf("%s is checked out in %q, want %s", place.Branch, at, work)
	}
	if err := remote.Deliver(t.Context(), l.trusted, there, place.Branch, sha); err == nil || !strings.HasSuffix(errors.Unwrap(err).Error(), "checked out at '"+work+"'") {
		t.Errorf("Deliver: %v", err)
	}
}

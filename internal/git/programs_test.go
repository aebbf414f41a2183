package git_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	l.seen.argv, l.seen.env = nil, nil
	if err := remote.Deliver(t.Context(), l.trusted, place, "work", sha); err != nil {
		t.Fatal(err)
	}
	for i, env := range l.seen.env { // a newer git asks the server of fetch.bundleURI
		if !slices.ContainsFunc(env, func(set string) bool { return strings.HasSuffix(set, "=fetch.bundleURI") }) {
			t.Errorf("%q may ask another server", l.seen.argv[i])
		}
	}
	if exists(canary) {
		t.Errorf("it ran: %q", read(t, canary))
	}
}

// A condition of the settings can hold in a new worktree alone, where git runs their programs as it checks files out.
func TestAddWorktreeStartsNothing(t *testing.T) {
	l := newLab(t)
	work, place := l.desk()
	canary := filepath.Join(t.TempDir(), "canary")
	write(t, filepath.Join(work, ".git/more"), "[filter \"f\"]\n\tsmudge = \"touch "+canary+"; cat\"\n")
	write(t, filepath.Join(work, ".git/info/attributes"), "* filter=f\n")
	l.sh(work, "git", "config", "includeIf.gitdir:**/worktrees/**.path", "more")
	if w, err := l.git.AddWorktree(t.Context(), place, "ralph/loop"); exists(canary) || exists(filepath.Join(work, ".ralph-worktree")) {
		t.Errorf("AddWorktree = %+v, %v; a filter ran: %v", w, err, exists(canary))
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

// These commands write no ref, index or file, so they run no hook.
var readers = []string{
	"cat-file", "commit-tree", "config", "diff-index", "diff-tree", "for-each-ref", "ls-files", "ls-tree", "merge-base", "remote", "rev-parse", "show-ref", "status",
}

// Since git 2.54 a configuration can have hooks, which core.hooksPath does not disable.
func TestHooksOfTheConfigurationAreOff(t *testing.T) {
	const off = "=hook.a=b.c.enabled"
	l := newLab(t)
	work, place := l.desk()
	sha := l.commit("one", map[string]string{"a": "1"})
	l.take(l.terms())
	l.sh(work, "git", "config", "hook.a=b.c.event", "post-index-change")
	l.sh(work, "git", "config", "hook.a=b.c.command", "evil")
	l.seen.argv, l.seen.env = nil, nil
	ctx, message := t.Context(), git.Message{Subject: "x"}
	if err := remote.Deliver(ctx, l.trusted, place, "work", sha); err != nil {
		t.Error(err)
	}
	worktree := must(l.git.AddWorktree(ctx, place, "ralph/loop"))(t)
	must(l.git.RemoveWorktree(ctx, place, worktree))(t)
	if err := l.git.SwitchNew(ctx, place, "ralph/new"); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(work, "b"), "1")
	must(l.git.Commit(ctx, place, git.PathCommit{Paths: []string{"b"}, Message: message}))(t)
	tree := own(t, l.git, work)
	tree.Beside = []string{"memory"}
	write(t, filepath.Join(work, "memory/c"), "1")
	write(t, filepath.Join(work, "d"), "1")
	seen := must(tree.Inspect(ctx))(t)
	snapshot := must(seen.Work(ctx))(t)
	snapshot = must(tree.Tidy(ctx, snapshot, must(tree.Leftovers(ctx, git.Span{From: place.Head, To: snapshot}))(t)))(t)
	must(seen.CommitSnapshot(ctx, snapshot, message))(t)
	must(must(tree.Inspect(ctx))(t).CommitAll(ctx, message))(t)
	if err := tree.Restore(ctx, sha); err != nil {
		t.Error(err)
	}
	if err := tree.Reset(ctx, place.Head); err != nil {
		t.Error(err)
	}
	quiet := 0
	for i, argv := range l.seen.argv {
		if slices.Contains(readers, argv[1]) || slices.Contains(l.seen.env[i], "GIT_DIR="+l.trusted.Dir) || strings.HasPrefix(fmt.Sprint(argv[1:]), "[symbolic-ref -q ") {
			continue
		}
		if quiet++; !slices.ContainsFunc(l.seen.env[i], func(set string) bool { return strings.HasSuffix(set, off) }) {
			t.Errorf("%q runs with the hook", argv)
		}
	}
	if quiet < 15 {
		t.Errorf("%d commands write", quiet)
	}
}

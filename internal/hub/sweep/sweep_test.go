package sweep_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/sweep"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// newRemote returns a remote with the saved state of three runs, a baseline, the ledger, and two branches.
func newRemote(t *testing.T) (git.Git, remote.Repository, []quota.Pull) {
	t.Helper()
	tool := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	to := remote.Repository{URL: filepath.Join(t.TempDir(), "origin.git")}
	if _, err := tool.Init(t.Context(), to.URL, "sha1"); err != nil {
		t.Fatal(err)
	}
	store := newStore(t, tool)
	lease, err := json.Marshal(quota.Lease{Job: 1, Until: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	commits := map[string]string{}
	for ref, at := range map[string]time.Duration{
		"refs/ralph/issue-1": 100 * day, "refs/ralph/issue-2": 3 * day, "refs/ralph/issue-3": 100 * day,
		quota.Ref: 100 * day,
	} {
		kept := remote.Files{Ref: ref, Files: map[string][]byte{"journal.jsonl": []byte(ref)}, Subject: "keep", At: now.Add(-at)}
		if ref == "refs/ralph/issue-3" {
			kept.Files[quota.LeaseFile] = lease
		}
		if commits[ref], err = to.PushFiles(t.Context(), store, kept); err != nil {
			t.Fatal(err)
		}
	}
	head := commits["refs/ralph/issue-1"]
	var ended []quota.Pull
	for _, branch := range []string{"ralph/issue-1", "ralph/issue-2", "main"} {
		if err := to.Push(t.Context(), store, remote.Update{Branch: branch, SHA: head}); err != nil {
			t.Fatal(err)
		}
		ended = append(ended, quota.Pull{Branch: branch, Head: head, Ended: now.Add(-100 * day)})
	}
	ended[1].Head = commits["refs/ralph/issue-2"] // somebody pushed to it since
	return tool, to, ended
}

func newStore(t *testing.T, tool git.Git) *git.Trusted {
	t.Helper()
	store, err := tool.Init(t.Context(), filepath.Join(t.TempDir(), "store.git"), "sha1")
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Only what is old, unused and unchanged is removed, and a dry run removes nothing.
func TestSweep(t *testing.T) {
	t.Parallel()
	tool, to, ended := newRemote(t)
	look := func(dry bool) map[string]string {
		t.Helper()
		all, err := sweep.Sweep{
			Store: newStore(t, tool), Remote: to, Now: now, Age: sweep.Retention, Dry: dry, Prefix: "ralph/",
		}.Do(t.Context(), ended)
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]string{}
		for _, one := range all {
			kept[one.Ref] = one.Kept
		}
		return kept
	}
	const young, working, dry, moved = "it is not old enough", "a job is at work on it", "nothing is removed in a dry run", "it was changed or removed meanwhile"
	want := map[string]string{
		"refs/heads/ralph/issue-1": dry, "refs/heads/ralph/issue-2": dry,
		"refs/ralph/issue-1": dry, "refs/ralph/issue-2": young, "refs/ralph/issue-3": working,
	}
	if d := cmp.Diff(want, look(true)); d != "" {
		t.Errorf("a dry run (-want +got):\n%s", d)
	}
	want = map[string]string{
		"refs/heads/ralph/issue-1": "", "refs/heads/ralph/issue-2": moved,
		"refs/ralph/issue-1": "", "refs/ralph/issue-2": young, "refs/ralph/issue-3": working,
	}
	if d := cmp.Diff(want, look(false)); d != "" {
		t.Errorf("the first sweep (-want +got):\n%s", d)
	}
	want = map[string]string{
		"refs/heads/ralph/issue-1": moved, "refs/heads/ralph/issue-2": moved,
		"refs/ralph/issue-2": young, "refs/ralph/issue-3": working,
	}
	if d := cmp.Diff(want, look(false)); d != "" {
		t.Errorf("the second sweep (-want +got):\n%s", d)
	}
}

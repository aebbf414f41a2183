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

// newRemote returns a remote with the saved state of three runs, and the ledger.
func newRemote(t *testing.T) (git.Git, remote.Repository) {
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
	for ref, at := range map[string]time.Duration{
		"refs/ralph/issue-1": 100 * day, "refs/ralph/issue-2": 3 * day, "refs/ralph/issue-3": 100 * day,
		quota.Ref: 100 * day,
	} {
		kept := remote.Files{Ref: ref, Files: map[string][]byte{"journal.jsonl": []byte(ref)}, Subject: "keep", At: now.Add(-at)}
		if ref == "refs/ralph/issue-3" {
			kept.Files[quota.LeaseFile] = lease
		}
		if _, err = to.PushFiles(t.Context(), store, kept); err != nil {
			t.Fatal(err)
		}
	}
	return tool, to
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
	tool, to := newRemote(t)
	look := func(dry bool) map[string]string {
		t.Helper()
		all, err := sweep.Sweep{
			Store: newStore(t, tool), Remote: to, Now: now, Age: sweep.Retention, Dry: dry,
		}.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept := map[string]string{}
		for _, one := range all {
			kept[one.Ref] = one.Kept
		}
		return kept
	}
	const young, working, dry = "it is not old enough", "a job is at work on it", "nothing is removed in a dry run"
	want := map[string]string{
		"refs/ralph/issue-1": dry, "refs/ralph/issue-2": young, "refs/ralph/issue-3": working,
	}
	if d := cmp.Diff(want, look(true)); d != "" {
		t.Errorf("a dry run (-want +got):\n%s", d)
	}
	want = map[string]string{
		"refs/ralph/issue-1": "", "refs/ralph/issue-2": young, "refs/ralph/issue-3": working,
	}
	if d := cmp.Diff(want, look(false)); d != "" {
		t.Errorf("the first sweep (-want +got):\n%s", d)
	}
	want = map[string]string{
		"refs/ralph/issue-2": young, "refs/ralph/issue-3": working,
	}
	if d := cmp.Diff(want, look(false)); d != "" {
		t.Errorf("the second sweep (-want +got):\n%s", d)
	}
}

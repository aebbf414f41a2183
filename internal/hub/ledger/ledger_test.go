package ledger_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/ledger"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// repository returns an empty one, and git to reach it.
func repository(t *testing.T) (origin string, tool git.Git) {
	t.Helper()
	origin = filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", origin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return origin, git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
}

// account returns the ledger as a job on a machine of its own reaches it.
func account(t *testing.T, origin string, tool git.Git) ledger.Account {
	t.Helper()
	store, err := tool.Init(t.Context(), filepath.Join(t.TempDir(), "kept.git"), "sha1")
	if err != nil {
		t.Fatal(err)
	}
	at := remote.Repository{URL: origin}
	return ledger.Account{Remote: at, Store: store, Pause: context.Context.Err, Now: clock}
}

// Of jobs that begin at the same moment as many begin as may, and the book has each of them once.
func TestManyAtOnce(t *testing.T) {
	origin, tool := repository(t)
	var admitted, declined atomic.Int64
	var jobs sync.WaitGroup
	for job := range int64(8) {
		e := ledger.Entry{Change: account(t, origin, tool).Change, Now: clock, Entry: quota.Entry{Job: job + 1, Run: "run", Held: 5, Until: noon.Add(time.Hour)}}
		e.Ended = func(context.Context, int64) (bool, error) { return false, nil }
		jobs.Go(func() {
			refusal, err := e.Admit(t.Context(), quota.Limits{USD: 15, Runs: 6}, nil)
			switch {
			case err != nil:
				t.Errorf("job %d: %v", job+1, err)
			case refusal == nil:
				admitted.Add(1)
			default:
				declined.Add(1)
			}
		})
	}
	jobs.Wait()
	if admitted.Load() != 3 || declined.Load() != 5 {
		t.Errorf("%d began and %d were declined, want 3 and 5", admitted.Load(), declined.Load())
	}
	book, _, err := account(t, origin, tool).Read(t.Context())
	if err != nil || len(book.Entries) != 3 {
		t.Errorf("the book has %+v (%v), want 3 entries", book.Entries, err)
	}
	for i, e := range book.Entries {
		if slices.ContainsFunc(book.Entries[:i], func(other quota.Entry) bool { return other.Job == e.Job }) {
			t.Errorf("job %d is there twice", e.Job)
		}
	}
}

// What somebody else put on the ref is not taken for an empty ledger: to begin anew would
// forget what was spent.
func TestALedgerThatCannotBeRead(t *testing.T) {
	for name, put := range map[string][]string{
		"a file":                  {"hash-object", "-w", "--stdin"},
		"a folder without a book": {"mktree"},
	} {
		origin, tool := repository(t)
		git := func(args ...string) string { return inGit(t, origin, args...) }
		at := git(put...)
		if put[0] == "mktree" {
			at = git("commit-tree", "-m", "x", at)
		}
		git("update-ref", quota.Ref, at)
		book, _, err := account(t, origin, tool).Read(t.Context())
		if err == nil || !strings.Contains(fault.Told(err), "the ledger on "+quota.Ref+" cannot be read") || !strings.Contains(fault.Told(err), "git push origin :"+quota.Ref) {
			t.Errorf("%s: Read = %v, %v, want a way out", name, book, err)
		}
	}
}

func inGit(t *testing.T, origin string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", origin, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// Who is always too late is told so in the end, or when its time is up.
func TestARaceThatIsAlwaysLost(t *testing.T) {
	origin, tool := repository(t)
	late := account(t, origin, tool)
	same := func(book quota.Book) (quota.Book, error) { return book, nil }
	if err := late.Change(t.Context(), same); err != nil {
		t.Fatal(err)
	}
	tree, tries := inGit(t, origin, "rev-parse", quota.Ref+"^{tree}"), 0
	quicker := func(book quota.Book) (quota.Book, error) {
		tries++
		inGit(t, origin, "update-ref", quota.Ref, inGit(t, origin, "commit-tree", "-m", strconv.Itoa(tries), tree))
		return book, nil
	}
	if err := late.Change(t.Context(), quicker); err == nil || tries < 20 || !strings.Contains(err.Error(), "times") {
		t.Errorf("after %d tries: %v", tries, err)
	}
	late.Pause = func(context.Context) error { return context.Canceled }
	if err := late.Change(t.Context(), quicker); !errors.Is(err, context.Canceled) {
		t.Errorf("when the time is up: %v", err)
	}
}

package quota_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/quota"
)

// drawer is a store in a repository, as a job on its own machine has it.
type drawer struct {
	from  remote.Repository
	store *git.Trusted
	at    string
}

func (d *drawer) Look(ctx context.Context) (book []byte, err error) {
	if d.at, err = d.from.FetchRef(ctx, d.store, quota.Ref); err != nil || d.at == "" {
		return nil, err
	}
	return d.store.ReadFile(ctx, git.At{Commit: d.at, Path: quota.File}, 1<<20)
}

func (d *drawer) Put(ctx context.Context, book []byte) error {
	_, err := d.from.PushFiles(ctx, d.store, remote.Files{Ref: quota.Ref, Parent: d.at, Files: map[string][]byte{quota.File: book}, Subject: "ledger", At: noon})
	if errors.Is(err, remote.ErrNonFastForward) {
		return quota.ErrMoved
	}
	return err
}

var errFull = errors.New("no more")

// Of twenty jobs that begin at the same moment as many begin as may, and the book
// has each of them once.
func TestTwentyAtOnce(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "remote.git")
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", "--bare", origin).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tool := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: t.TempDir()}
	var admitted, declined atomic.Int64
	var jobs sync.WaitGroup
	for job := range int64(20) {
		store, err := tool.Init(t.Context(), filepath.Join(t.TempDir(), "kept.git"), "sha1")
		if err != nil {
			t.Fatal(err)
		}
		jobs.Go(func() {
			asked := quota.Asked{Entry: at(job+1, "", 5, noon.Add(time.Hour)), Limits: quota.Limits{USD: 35, Runs: 12}}
			err := quota.Change(t.Context(), &drawer{from: remote.Repository{URL: origin}, store: store}, context.Context.Err, func(book quota.Book) (quota.Book, error) {
				next, refusal := book.Admit(asked, noon)
				if refusal != nil {
					return next, errFull
				}
				return next, nil
			})
			switch {
			case err == nil:
				admitted.Add(1)
			case errors.Is(err, errFull):
				declined.Add(1)
			default:
				t.Errorf("job %d: %v", job+1, err)
			}
		})
	}
	jobs.Wait()
	if admitted.Load() != 7 || declined.Load() != 13 {
		t.Errorf("%d began and %d were declined, want 7 and 13", admitted.Load(), declined.Load())
	}
	out, err := exec.CommandContext(t.Context(), "git", "--git-dir="+origin, "show", quota.Ref+":"+quota.File).Output()
	if err != nil {
		t.Fatal(err)
	}
	book, err := quota.Read(out)
	if err != nil || len(book.Entries) != 7 {
		t.Errorf("the book has %d entries (%v), want 7:\n%s", len(book.Entries), err, out)
	}
	seen := map[int64]bool{}
	for _, e := range book.Entries {
		if seen[e.Job] {
			t.Errorf("job %d is there twice", e.Job)
		}
		seen[e.Job] = true
	}
}

// never is a store in which somebody else is always quicker.
type never struct{ puts int }

func (*never) Look(context.Context) ([]byte, error) { return nil, nil }

func (n *never) Put(context.Context, []byte) error {
	n.puts++
	return quota.ErrMoved
}

// Who is always too late is told so in the end, or when its time is up.
func TestAlwaysTooLate(t *testing.T) {
	same := func(book quota.Book) (quota.Book, error) { return book, nil }
	store := &never{}
	err := quota.Change(t.Context(), store, context.Context.Err, same)
	if !errors.Is(err, quota.ErrMoved) || store.puts < 20 || !strings.Contains(err.Error(), "times") {
		t.Errorf("after %d tries: %v", store.puts, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := quota.Change(ctx, &never{}, context.Context.Err, same); !errors.Is(err, context.Canceled) {
		t.Errorf("when the time is up: %v", err)
	}
}

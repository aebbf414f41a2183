// Package ledger keeps a repository's ledger on its ref. It takes the remote and a local
// store, and changes the ledger by the rules of package quota. A job enters itself there,
// and what it cost. Everyone who may push can change the ledger: it limits spending, and is not a
// security boundary.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Account is a repository's ledger.
type Account struct {
	Remote remote.Repository
	Store  *git.Trusted
	Pause  func(context.Context) error // before the ledger is asked again
	Now    func() time.Time
}

const most = 8 << 20

// Read returns the book, and the commit that contains it. Without the ref it is empty.
func (a Account) Read(ctx context.Context) (book quota.Book, at string, err error) {
	at, err = a.Remote.FetchRef(ctx, a.Store, quota.Ref)
	if errors.Is(err, git.ErrNotFound) {
		return book, at, unreadable(ctx, errors.New("it is not a commit"))
	}
	if err != nil || at == "" {
		return book, at, err
	}
	text, err := a.Store.ReadFile(ctx, git.At{Commit: at, Path: quota.File}, most)
	if err != nil {
		return book, at, unreadable(ctx, err)
	}
	book, err = quota.Read(text) // somebody else may have put anything there
	if err != nil {
		return book, at, unreadable(ctx, err)
	}
	return book, at, nil
}

func unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fault.Usage("the ledger on "+quota.Ref+" cannot be read",
		"if you do not know why, remove it (git push origin :"+quota.Ref+"): ralph then starts a new one", err)
}

const tries = 40 // more than the jobs that begin at the same time: each failure is due to another job

// Change reads the book, changes it and stores it. If another job was faster, it tries again after a pause.
func (a Account) Change(ctx context.Context, change func(quota.Book) (quota.Book, error)) error {
	for range tries {
		book, at, err := a.Read(ctx)
		if err != nil {
			return err
		}
		book, err = change(book)
		if err != nil {
			return err
		}
		text, err := book.Write()
		if err != nil {
			return fmt.Errorf("write the ledger: %w", err)
		}
		_, err = a.Remote.PushFiles(ctx, a.Store, remote.Files{
			Ref: quota.Ref, Parent: at, Files: map[string][]byte{quota.File: text}, Subject: "ledger", At: a.Now(),
		})
		if !errors.Is(err, remote.ErrNonFastForward) && !errors.Is(err, remote.ErrNetwork) {
			return err
		}
		if err := a.Pause(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("another job changed the ledger, %d times", tries)
}

// Entry is a job's entry in a ledger, until the job is over.
type Entry struct {
	quota.Entry
	Change func(context.Context, func(quota.Book) (quota.Book, error)) error // changes the ledger
	Ended  func(ctx context.Context, job int64) (bool, error)                // as far as GitHub reports it
	Now    func() time.Time
	Began  time.Time   // when the job did
	Old    journal.Run // that the job goes on with; zero: it begins a new one
}

// errFull ends a change of the ledger that does not take the job.
var errFull = errors.New("the ledger does not take the job")

// Admit enters the job, or says why it may not begin. It asks whether jobs that hold a
// place are over: a job that is killed writes nothing.
func (e *Entry) Admit(ctx context.Context, limits quota.Limits, open []string) (*quota.Refusal, error) {
	want := quota.Candidate{Entry: e.Entry, Limits: limits, Open: open}
	var refusal *quota.Refusal
	err := e.Change(ctx, func(book quota.Book) (quota.Book, error) {
		var next quota.Book
		next, refusal = book.Admit(want, e.Now())
		if refusal != nil && refusal.Full {
			book, err := e.removeEnded(ctx, book)
			if err != nil {
				return book, err
			}
			next, refusal = book.Admit(want, e.Now())
		}
		if refusal != nil {
			return next, errFull
		}
		return next, nil
	})
	if errors.Is(err, errFull) {
		return refusal, nil
	}
	return nil, err
}

// removeEnded ends the entries of jobs that are over.
func (e *Entry) removeEnded(ctx context.Context, book quota.Book) (quota.Book, error) {
	for _, other := range book.AtWork(e.Now()) {
		ended, err := e.Ended(ctx, other.Job)
		if err != nil {
			return book, err
		}
		if ended {
			book = book.End(other.Job, other.Run, nil, e.Now())
		}
	}
	return book, nil
}

// Leave records what the job spent, and what the run came to.
func (e *Entry) Leave(ctx context.Context, run journal.Run) error {
	return e.Change(ctx, func(book quota.Book) (quota.Book, error) {
		book = book.End(e.Job, e.Run, e.spent(run), e.Now())
		if run.Published.Pull != nil {
			return book.Worked(pullOf(run, e.Now()), pullRunOf(run), e.Began), nil
		}
		return book, nil
	})
}

// spent returns what the job spent, or nil, so that the day is charged what the job held.
func (e *Entry) spent(run journal.Run) *float64 {
	usd := max(0, run.Spent.CostUSD-e.Old.Spent.CostUSD)
	if usd >= e.Held {
		return &usd
	}
	if !run.Spent.CostKnown && run.Spent.Usage.Tokens() > 0 {
		return nil // the price of some tokens is unknown
	}
	if run.ID != "" && run.Stop == nil {
		return nil // the run has no end: its journal could not be written (an agent can fill the disk)
	}
	return &usd
}

func pullOf(run journal.Run, now time.Time) quota.Pull {
	return quota.Pull{Number: run.Published.Pull.Number, Branch: run.Branch, Opened: now.UTC()}
}

// pullRunOf returns what a run on a pull request used. A cost that is not known is null.
func pullRunOf(run journal.Run) quota.PullRun {
	r := quota.PullRun{ID: run.ID, Agent: run.Policy.Agent}
	if run.Spent.CostKnown {
		usd := run.Spent.CostUSD
		r.USD = &usd
	}
	for _, it := range run.Iterations {
		r.Minutes += it.Last.Sub(it.Began).Minutes()
	}
	return r
}

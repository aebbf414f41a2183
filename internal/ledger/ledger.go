// Package ledger keeps a repository's ledger on its ref. It takes the remote and a local
// store, and is the store that package quota changes. A job enters itself there, and what
// it cost. Everyone who may push can change the ledger: it limits spending, and is not a
// security boundary.
package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/quota"
)

// Account is a repository's ledger.
type Account struct {
	Remote func(context.Context) (remote.Repository, error) // with a token that is good now
	Store  *git.Trusted
	Now    func() time.Time

	at string // the commit that the ref stood at when it was read
}

const most = 8 << 20

// Look reads the book.
func (a *Account) Look(ctx context.Context) ([]byte, error) {
	origin, err := a.Remote(ctx)
	if err != nil {
		return nil, err
	}
	a.at, err = origin.FetchRef(ctx, a.Store, quota.Ref)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return nil, quota.Unreadable(errors.New("it is not a commit"))
	case err != nil || a.at == "":
		return nil, err
	}
	return a.page(ctx)
}

// page is what stands in the book. Somebody else may have put anything there.
func (a *Account) page(ctx context.Context) ([]byte, error) {
	book, err := a.Store.ReadFile(ctx, git.At{Commit: a.at, Path: quota.File}, most)
	if err == nil && len(book) == 0 {
		err = errors.New(quota.File + " is empty")
	}
	if err != nil && ctx.Err() == nil {
		err = quota.Unreadable(err)
	}
	return book, err
}

// Put writes the ledger, unless it was changed since Look.
func (a *Account) Put(ctx context.Context, book []byte) error {
	origin, err := a.Remote(ctx)
	if err != nil {
		return err
	}
	_, err = origin.PushFiles(ctx, a.Store, remote.Files{
		Ref: quota.Ref, Parent: a.at, Files: map[string][]byte{quota.File: book}, Subject: "ledger", At: a.Now(),
	})
	if errors.Is(err, remote.ErrNonFastForward) || errors.Is(err, remote.ErrNetwork) {
		return quota.ErrMoved
	}
	return err
}

package quota

import (
	"context"
	"errors"
	"fmt"
)

// ErrMoved is a store's answer to a book that was written to since it was read.
var ErrMoved = errors.New("another job changed the ledger")

// Store keeps a ledger. Put fails if it was changed since Look.
type Store interface {
	Look(ctx context.Context) ([]byte, error)
	Put(ctx context.Context, book []byte) error
}

// tries is more than jobs begin at the same moment: each that is late is so because of another.
const tries = 40

// Change reads the book, changes it and puts it back, again after pause if another job was quicker.
func Change(ctx context.Context, store Store, pause func(context.Context) error, change func(Book) (Book, error)) error {
	for range tries {
		err := once(ctx, store, change)
		if !errors.Is(err, ErrMoved) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("%w, %d times", ErrMoved, tries)
}

func once(ctx context.Context, store Store, change func(Book) (Book, error)) error {
	data, err := store.Look(ctx)
	if err != nil {
		return err
	}
	book, err := Read(data)
	if err != nil {
		return err
	}
	changed, err := change(book)
	if err != nil {
		return err
	}
	if data, err = changed.Write(); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	return store.Put(ctx, data)
}

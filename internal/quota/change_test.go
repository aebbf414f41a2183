package quota_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/quota"
)

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

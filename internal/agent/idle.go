package agent

import (
	"context"
	"errors"
	"io"
	"time"
)

// errIdle ends an agent that printed nothing for too long.
var errIdle = errors.New("nothing was heard of it")

// attend gives a context that ends once nothing was written to the Writer for
// as long as patience; 0 is no end to it.
func attend(ctx context.Context, patience time.Duration) (context.Context, io.Writer, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if patience <= 0 {
		return ctx, io.Discard, cancel
	}
	alarm := time.AfterFunc(patience, func() { cancel(errIdle) })
	return ctx, heard(func() { alarm.Reset(patience) }), func(cause error) {
		alarm.Stop()
		cancel(cause)
	}
}

// heard is called for every write.
type heard func()

func (h heard) Write(p []byte) (int, error) {
	h()
	return len(p), nil
}

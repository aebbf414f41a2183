package confine

import (
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/sandbox/putback"
)

// ErrNotPutBack ends a run: what a command may not change stays as it left it.
var ErrNotPutBack = putback.ErrNotPutBack

// whole runs as next does, as long as all that those inside changed could be put
// back. Then nothing runs any more: what would be kept next is what they wrote.
func (w *Sandbox) whole(next sandbox.Exec) sandbox.Exec {
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		if err := w.breach(nil); err != nil {
			return process.Result{}, err
		}
		res, err := next(ctx, c)
		if errors.Is(err, putback.ErrNotPutBack) {
			err = w.breach(err)
		}
		return res, err
	}
}

// breach records the first error and returns it.
func (w *Sandbox) breach(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = err
	}
	return w.broken
}

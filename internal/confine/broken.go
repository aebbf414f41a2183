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

// stopAfterBreach runs as next does, as long as all that those inside changed could be put
// back. Then nothing runs any more: what would be kept next is what they wrote.
func (w *Sandbox) stopAfterBreach(next sandbox.Exec) sandbox.Exec {
	return func(ctx context.Context, c process.Command) (process.Result, error) {
		if err := w.recordBreach(nil); err != nil {
			return process.Result{}, err
		}
		res, err := next(ctx, c)
		if errors.Is(err, putback.ErrNotPutBack) {
			err = w.recordBreach(err)
		}
		return res, err
	}
}

func (w *Sandbox) recordBreach(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.breachError == nil {
		w.breachError = err
	}
	return w.breachError
}

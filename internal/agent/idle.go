package agent

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/stream"
)

// errIdle ends an agent that made no progress for too long.
var errIdle = errors.New("no progress")

// attend gives a context that ends when alive was not called for as long as
// patience; 0 means no limit.
func attend(ctx context.Context, patience time.Duration) (limited context.Context, alive func(), done context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if patience <= 0 {
		return ctx, func() {}, cancel
	}
	alarm := time.AfterFunc(patience, func() { cancel(errIdle) })
	return ctx, func() { alarm.Reset(patience) }, func(cause error) {
		alarm.Stop()
		cancel(cause)
	}
}

// lively is called for every write, unless the agent only tries again: then what it
// prints is no sign of life.
type lively struct {
	sum   *sum
	alive func()
}

func (l lively) Write(p []byte) (int, error) {
	l.sum.mu.Lock()
	defer l.sum.mu.Unlock()
	if l.sum.retry == nil {
		l.alive()
	}
	return len(p), nil
}

// retried follows whether the agent only tries again: since a retry it has neither
// spoken nor worked.
func (s *sum) retried(item stream.Item) {
	switch item := item.(type) {
	case stream.Retry:
		s.retry = &item
	case stream.Text, stream.ToolStart, stream.ToolEnd, stream.Todo:
		if s.retry != nil {
			s.retry = nil
			s.alive()
		}
	case stream.Progress, stream.Spent, stream.Result:
	}
}

// unanswered is the ending of an agent that tried again until it was ended, as if
// its program had given up and said why.
func (s *sum) unanswered(e ending) ending {
	if !errors.Is(e.err, errIdle) || s.retry == nil || s.result != nil && s.result.Reason != noResult {
		return e
	}
	s.result = &stream.Result{Failed: true, Reason: "no answer of the model for " + e.idle, Status: s.retry.Status, Text: s.retry.Reason}
	e.err, e.Signal = nil, ""
	return e
}

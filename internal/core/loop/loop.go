// Package loop executes a run: it gets the next step from package verdict, does it, and records it before the next one.
// It imports neither the agent nor the checks nor git: they are behind Do.
package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Journal is the part of the run's journal that the loop needs.
type Journal interface {
	Append(journal.Event) error
	Run() journal.Run
}

// Loop executes a run.
type Loop struct {
	// Do does one step, and emits what happened.
	Do          func(ctx context.Context, run journal.Run, step verdict.Step, emit func(journal.Event)) error
	Journal     Journal
	Drain       <-chan struct{} // if closed, the run ends after the current step
	SaveTimeout time.Duration   // for saving the work after the context is done
}

// Run does the steps of the run until it stops. If ctx ends, it cancels the run, and saves
// the work within SaveTimeout. It returns the error of a step or of the journal.
func (l Loop) Run(ctx context.Context) error {
	for {
		run := l.Journal.Run()
		step := verdict.Next(run)
		if _, ok := step.(verdict.NoStep); ok {
			return nil
		}
		if why := l.interrupted(ctx, run); why != "" {
			if err := l.Journal.Append(journal.CancelAsked{Why: why}); err != nil {
				return err
			}
			rescue, done := context.WithTimeout(context.WithoutCancel(ctx), l.SaveTimeout)
			defer done()
			ctx = rescue
			continue
		}
		err := l.doStep(ctx, run, step)
		if err != nil && (run.Cancel != nil || ctx.Err() == nil) {
			return l.giveUp(err, run)
		}
	}
}

// giveUp ends the run with an error, unless the journal itself failed.
func (l Loop) giveUp(err error, run journal.Run) error {
	if errors.As(err, new(notWritten)) {
		return err
	}
	stopped := journal.RunStopped{Reason: policy.FatalError, Why: err.Error()}
	if run.Cancel != nil || errors.Is(err, process.ErrStopped) { // the work could not be saved in time
		stopped.Reason = policy.Cancelled
	}
	return errors.Join(err, l.Journal.Append(stopped))
}

// interrupted returns why the run has to be cancelled. It is empty if it was cancelled before.
func (l Loop) interrupted(ctx context.Context, run journal.Run) string {
	if run.Cancel != nil {
		return ""
	}
	if ctx.Err() != nil {
		return context.Cause(ctx).Error()
	}
	select {
	case <-l.Drain:
		return "asked to stop"
	default:
		return ""
	}
}

// notWritten is an error of the journal. Without a record, no step may follow.
type notWritten struct{ error }

func (e notWritten) Unwrap() error { return e.error }

// doStep does one step. emit returns when an event is on disk. A step that emits nothing
// would be done forever, so that is an error.
func (l Loop) doStep(ctx context.Context, run journal.Run, step verdict.Step) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	emit := func(event journal.Event) {
		if failed != nil {
			return
		}
		if err := l.Journal.Append(event); err != nil {
			failed = notWritten{err}
			cancel()
		}
	}
	var err error
	switch s := step.(type) { //nolint:gochecksumtype // the other steps are done by Do
	case verdict.Judge:
		emit(s.Verdict)
	case verdict.Stop:
		emit(s.Stopped)
	default:
		err = l.Do(ctx, run, step, emit)
	}
	if failed != nil || err != nil {
		return errors.Join(failed, err)
	}
	if l.Journal.Run().Seq == run.Seq {
		return fmt.Errorf("step %T reported nothing", step)
	}
	return nil
}

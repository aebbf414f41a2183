// Package loop keeps the order of a run: ask the verdict for the next step,
// do it, and record it before anything else happens. Agent, checks and git
// are function fields, so it imports none of them.
package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// Hand does one step and reports what happened.
type Hand[S verdict.Step] func(ctx context.Context, run journal.Run, step S, emit func(journal.Event)) error

// Hands are all that a run needs done.
type Hands struct {
	Draft     Hand[verdict.Draft]
	Baseline  Hand[verdict.Baseline]
	Iterate   Hand[verdict.Iterate]
	Read      Hand[verdict.Read]
	Check     Hand[verdict.Check]
	Take      Hand[verdict.Take]
	Prove     Hand[verdict.Prove]
	Inspect   Hand[verdict.Inspect]
	Grade     Hand[verdict.Grade]
	Review    Hand[verdict.Review]
	Commit    Hand[verdict.Commit]
	Push      Hand[verdict.Push]
	OpenPull  Hand[verdict.OpenPull]
	Join      Hand[verdict.Join]
	ReadyPull Hand[verdict.ReadyPull]
	Look      Hand[verdict.Look]
	Pause     Hand[verdict.Pause]
	Settle    Hand[verdict.Settle]
	Shelve    Hand[verdict.Shelve]
}

// Record is the journal as the loop needs it.
type Record interface {
	Append(journal.Event) error
	Run() journal.Run
}

// Loop runs a run to its end.
type Loop struct {
	Hands  Hands
	Record Record
	Drain  <-chan struct{} // closed: end after the step under way
	Rescue time.Duration   // how long saving the work may take once the context is done
}

// Go goes on with the run until it has stopped. A context that ends cancels the
// run; its work is still made safe, within Rescue. The error is one that kept
// the record from being written, or broke a step.
func (l Loop) Go(ctx context.Context) error {
	for {
		run := l.Record.Run()
		step := verdict.Next(run)
		if _, rest := step.(verdict.Rest); rest {
			return nil
		}
		if why := l.interrupted(ctx, run); why != "" {
			if err := l.Record.Append(journal.CancelAsked{Why: why}); err != nil {
				return err
			}
			rescue, done := context.WithTimeout(context.WithoutCancel(ctx), l.Rescue)
			defer done()
			ctx = rescue
			continue
		}
		err := l.take(ctx, run, step)
		if err != nil && (run.Cancel != nil || ctx.Err() == nil) {
			return l.giveUp(err, run)
		}
	}
}

// giveUp puts on record that the run broke, where there is still a record.
func (l Loop) giveUp(err error, run journal.Run) error {
	if errors.As(err, new(unwritten)) {
		return err
	}
	stopped := journal.RunStopped{Reason: policy.FatalError, Why: err.Error()}
	if run.Cancel != nil { // what broke was saving the work, in the time there was
		stopped.Reason = policy.Cancelled
	}
	return errors.Join(err, l.Record.Append(stopped))
}

// interrupted is why the run has to end now, if it has not been told yet.
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

// unwritten is an event that could not be put on disk: nothing may go on.
type unwritten struct{ error }

func (u unwritten) Unwrap() error { return u.error }

// take does one step. Whatever a hand reports is on disk before the next thing
// happens; a hand that reports nothing would be asked for ever, so it is an
// error.
func (l Loop) take(ctx context.Context, run journal.Run, step verdict.Step) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	emit := func(event journal.Event) {
		if failed != nil {
			return
		}
		if err := l.Record.Append(event); err != nil {
			failed = unwritten{err}
			cancel()
		}
	}
	err := l.dispatch(ctx, run, step, emit)
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	if l.Record.Run().Seq == run.Seq {
		return fmt.Errorf("step %T reported nothing", step)
	}
	return nil
}

func (l Loop) dispatch(ctx context.Context, run journal.Run, step verdict.Step, emit func(journal.Event)) error { //nolint:funlen // a table: a step, its hand
	switch s := step.(type) {
	case verdict.Draft:
		return l.Hands.Draft(ctx, run, s, emit)
	case verdict.Baseline:
		return l.Hands.Baseline(ctx, run, s, emit)
	case verdict.Iterate:
		return l.Hands.Iterate(ctx, run, s, emit)
	case verdict.Read:
		return l.Hands.Read(ctx, run, s, emit)
	case verdict.Check:
		return l.Hands.Check(ctx, run, s, emit)
	case verdict.Take:
		return l.Hands.Take(ctx, run, s, emit)
	case verdict.Prove:
		return l.Hands.Prove(ctx, run, s, emit)
	case verdict.Inspect:
		return l.Hands.Inspect(ctx, run, s, emit)
	case verdict.Grade:
		return l.Hands.Grade(ctx, run, s, emit)
	case verdict.Review:
		return l.Hands.Review(ctx, run, s, emit)
	case verdict.Commit:
		return l.Hands.Commit(ctx, run, s, emit)
	case verdict.Push:
		return l.Hands.Push(ctx, run, s, emit)
	case verdict.OpenPull:
		return l.Hands.OpenPull(ctx, run, s, emit)
	case verdict.Join:
		return l.Hands.Join(ctx, run, s, emit)
	case verdict.ReadyPull:
		return l.Hands.ReadyPull(ctx, run, s, emit)
	case verdict.Look:
		return l.Hands.Look(ctx, run, s, emit)
	case verdict.Pause:
		return l.Hands.Pause(ctx, run, s, emit)
	case verdict.Settle:
		return l.Hands.Settle(ctx, run, s, emit)
	case verdict.Shelve:
		return l.Hands.Shelve(ctx, run, s, emit)
	case verdict.Judge:
		emit(s.Verdict)
	case verdict.Stop:
		emit(s.Stopped)
	case verdict.Rest:
	}
	return nil
}

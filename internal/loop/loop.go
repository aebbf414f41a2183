// Package loop executes a run: it gets the next step from package verdict, does it, and
// records it before the next one. The agent, the checks and git are function fields, so
// the package imports none of them.
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

// Handler does one step and emits what happened.
type Handler[S verdict.Step] func(ctx context.Context, run journal.Run, step S, emit func(journal.Event)) error

// Handlers do the steps of a run.
type Handlers struct {
	DraftPlan      Handler[verdict.DraftPlan]
	Baseline       Handler[verdict.Baseline]
	Iterate        Handler[verdict.Iterate]
	ReadPlan       Handler[verdict.ReadPlan]
	Check          Handler[verdict.Check]
	TakeCommits    Handler[verdict.TakeCommits]
	Prove          Handler[verdict.Prove]
	Inspect        Handler[verdict.Inspect]
	Grade          Handler[verdict.Grade]
	Review         Handler[verdict.Review]
	RunSCMTask     Handler[verdict.RunSCMTask]
	Push           Handler[verdict.Push]
	OpenPull       Handler[verdict.OpenPull]
	MergeRemote    Handler[verdict.MergeRemote]
	MarkPullReady  Handler[verdict.MarkPullReady]
	ReadTaskFolder Handler[verdict.ReadTaskFolder]
	Pause          Handler[verdict.Pause]
	AnnounceEnd    Handler[verdict.AnnounceEnd]
	SaveRun        Handler[verdict.SaveRun]
}

// Journal is the part of the run's journal that the loop needs.
type Journal interface {
	Append(journal.Event) error
	Run() journal.Run
}

// Loop executes a run.
type Loop struct {
	Handlers    Handlers
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
		if _, rest := step.(verdict.NoStep); rest {
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
	if run.Cancel != nil { // the work could not be saved in time
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

// doStep does one step. emit returns when an event is on disk. A handler that emits nothing
// would be called forever, so that is an error.
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
	err := l.dispatch(ctx, run, step, emit)
	if err = errors.Join(failed, err); err != nil {
		return err
	}
	if l.Journal.Run().Seq == run.Seq {
		return fmt.Errorf("step %T reported nothing", step)
	}
	return nil
}

func (l Loop) dispatch(ctx context.Context, run journal.Run, step verdict.Step, emit func(journal.Event)) error { //nolint:funlen // a table of steps and handlers
	switch s := step.(type) {
	case verdict.DraftPlan:
		return l.Handlers.DraftPlan(ctx, run, s, emit)
	case verdict.Baseline:
		return l.Handlers.Baseline(ctx, run, s, emit)
	case verdict.Iterate:
		return l.Handlers.Iterate(ctx, run, s, emit)
	case verdict.ReadPlan:
		return l.Handlers.ReadPlan(ctx, run, s, emit)
	case verdict.Check:
		return l.Handlers.Check(ctx, run, s, emit)
	case verdict.TakeCommits:
		return l.Handlers.TakeCommits(ctx, run, s, emit)
	case verdict.Prove:
		return l.Handlers.Prove(ctx, run, s, emit)
	case verdict.Inspect:
		return l.Handlers.Inspect(ctx, run, s, emit)
	case verdict.Grade:
		return l.Handlers.Grade(ctx, run, s, emit)
	case verdict.Review:
		return l.Handlers.Review(ctx, run, s, emit)
	case verdict.RunSCMTask:
		return l.Handlers.RunSCMTask(ctx, run, s, emit)
	case verdict.Push:
		return l.Handlers.Push(ctx, run, s, emit)
	case verdict.OpenPull:
		return l.Handlers.OpenPull(ctx, run, s, emit)
	case verdict.MergeRemote:
		return l.Handlers.MergeRemote(ctx, run, s, emit)
	case verdict.MarkPullReady:
		return l.Handlers.MarkPullReady(ctx, run, s, emit)
	case verdict.ReadTaskFolder:
		return l.Handlers.ReadTaskFolder(ctx, run, s, emit)
	case verdict.Pause:
		return l.Handlers.Pause(ctx, run, s, emit)
	case verdict.AnnounceEnd:
		return l.Handlers.AnnounceEnd(ctx, run, s, emit)
	case verdict.SaveRun:
		return l.Handlers.SaveRun(ctx, run, s, emit)
	case verdict.Judge:
		emit(s.Verdict)
	case verdict.Stop:
		emit(s.Stopped)
	case verdict.NoStep:
	}
	return nil
}

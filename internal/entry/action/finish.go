package action

import (
	"context"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Finish reports the end of a run whose job was killed, and saves its journal for the next job.
// It does nothing if the job has done so.
func (a Action) Finish(ctx context.Context) error { return newHandler(a).finish(ctx) }

func (h *handler) finish(ctx context.Context) error {
	if err := h.parse(ctx); err != nil {
		return err
	}
	folder := h.env.folder()
	home, run := folder.NewestHere(func(r journal.Run) bool { return r.Links.Log == h.env.log() })
	if home.ID == "" || folder.IsReported(home) {
		h.log.say("nothing to finish")
		return nil
	}
	if err := folder.CheckUnlocked(); err != nil { // it is at work
		return err
	}
	if err := h.applyNamedSettings(ctx); err != nil {
		return err
	}
	if err := h.connect(); err != nil {
		return err
	}
	h.request.task = run.Task
	h.setHost(run.Task.Number)
	outcome := "its job was killed after the run had ended; its comment is up to date now"
	if run.Stop == nil {
		run.Stop = &journal.RunStopped{
			Reason: policy.Cancelled,
			Why:    "its job was killed before it could save the current step",
		}
		outcome = "the run was killed; its comment says so now"
	}
	h.report.showAll(ctx, view.Of(run))
	h.answers.runEnded(ctx, run)
	h.answers.answerThreads(ctx, run)
	h.log.sayError(h.releaseKilled(ctx, home))
	h.report.markReported(home)
	h.log.say(outcome)
	return nil
}

// releaseKilled releases the killed job's lease and saves the newest journal.
func (h *handler) releaseKilled(ctx context.Context, home workspace.Run) error {
	ref, saved, err := h.openRef(ctx)
	if err != nil || saved.lease.Job != ref.lease.Job {
		return err
	}
	ref.release(ctx, saved.files, home)
	return nil
}

package action

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Finish reports the end of a run whose job was killed, and saves its journal for the next job.
// It does nothing if the job has done so.
func (a Action) Finish(ctx context.Context) error {
	v := a.newVisit()
	if err := v.read(ctx); err != nil {
		return err
	}
	home, run := v.folder().NewestHere(func(r journal.Run) bool { return r.Links.Log == v.env.log() })
	if home.ID == "" || v.folder().IsReported(home) {
		v.say("nothing to finish")
		return nil
	}
	if err := v.folder().CheckUnlocked(); err != nil { // it is at work
		return err
	}
	if err := v.applyNamedSettings(ctx); err != nil {
		return err
	}
	if err := v.connect(); err != nil {
		return err
	}
	v.task = run.Task
	v.host = v.hostFor(run.Task.Number)
	ended := run.Stop != nil
	outcome := "its job was killed after the run had ended; its comment is up to date now"
	if !ended {
		run.Stop = &journal.RunStopped{
			Reason: policy.Cancelled,
			Why:    "its job was killed before it could save the current step",
		}
		outcome = "the run was killed; its comment says so now"
	}
	v.showAll(ctx, view.Of(run))
	v.answerAsker(ctx, run)
	v.answerThreads(ctx, run)
	if ended {
		v.charge(ctx, run)
	}
	v.releaseKilled(ctx, job.Outcome{Run: run, Home: home}, ended)
	v.markReported(home)
	v.say(outcome)
	return nil
}

// markReported records that the end of the run was reported. If that fails, it is reported again.
func (h *handler) markReported(home workspace.Run) {
	if err := h.folder().MarkReported(home); err != nil {
		h.say("could not record that the comment was updated: " + err.Error())
	}
}

// charge records in the ledger what a run cost that ended before its job was killed.
func (h *handler) charge(ctx context.Context, run journal.Run) {
	if h.inputs.Quota == (quota.Limits{}) {
		return
	}
	asked := job.NewRun{RunBegan: journal.RunBegan{Run: run.ID, Policy: run.Policy}}
	e, err := h.openLedger(ctx, asked, journal.Run{Spent: journal.Spent{CostUSD: run.Clock.Granted.CostUSD}})
	if err != nil {
		h.say(fault.Told(err))
		return
	}
	e.Began = run.Clock.Granted.At
	h.ledgerEntry = e
	h.leaveLedger(ctx, run)
}

// releaseKilled releases the killed job's lease and saves the newest journal. An attempt at red
// checks that did not end still counts, and the draft is still ralph's. Errors are only logged:
// GitHub reports that the job has ended.
func (h *handler) releaseKilled(ctx context.Context, killed job.Outcome, ended bool) {
	if !killed.Run.Policy.SaveRun {
		return
	}
	s, found, err := h.openState(ctx)
	if err != nil {
		h.say(fault.Told(err))
		return
	}
	if found.lease.Job != s.lease.Job {
		return
	}
	during := time.Duration(0)
	madeDraft := found.lease.ReadyHead != ""
	countsAttempts := found.lease.Attempts.OfPull > 0
	if !ended && (madeDraft || countsAttempts) {
		s.lease = found.lease
		during = expiredLease
	}
	h.releaseLease(ctx, previousState{state: s, found: found}, killed, during)
}

package action

import (
	"context"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/quota"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Finish has the last word for a job that was killed: otherwise its comment
// would say for ever that an agent is at work. It does again what the job does after
// a run, which changes nothing where it was done. It keeps the journal for the next
// job. If the job had done all of that, it asks GitHub nothing.
func (a Action) Finish(ctx context.Context) error {
	v := a.newVisit()
	if err := v.read(ctx); err != nil {
		return err
	}
	// The newest run of this job.
	home, run := v.folder().NewestVouched(func(newest journal.Run) bool { return newest.Links.Log == v.env.log() })
	if home.ID == "" || v.folder().IsReported(home) {
		v.say("nothing to finish")
		return nil
	}
	if err := v.folder().CheckUnlocked(); err != nil { // it is at work
		return err
	}
	if err := v.connect(); err != nil {
		return err
	}
	v.task = run.Task
	v.host = v.hostFor(run.Task.Number)
	ended, said := run.Stop != nil, "its job was killed after the run had ended; its comment is up to date now"
	if !ended {
		run.Stop = &journal.RunStopped{Reason: policy.Cancelled, Why: "its job was killed before it could save the current step"}
		said = "the run was killed; its comment says so now"
	}
	v.showAll(ctx, view.Of(run))
	v.answerAsker(ctx, run)
	v.answerThreads(ctx, run)
	if ended {
		v.charge(ctx, run)
	}
	v.releaseKilled(ctx, Outcome{Run: run, Home: home}, ended)
	v.markTold(home)
	v.say(said)
	return nil
}

// markTold records that people have heard how the run ended. Where that fails, they
// are told again.
func (h *handler) markTold(home workspace.Run) {
	if err := h.folder().MarkReported(home); err != nil {
		h.say("could not record that the comment was updated: " + err.Error())
	}
}

// charge writes into the ledger what a run came to that ended before its job was killed.
// What a run cost that did not end is unknown.
func (h *handler) charge(ctx context.Context, run journal.Run) {
	if h.inputs.Quota == (quota.Limits{}) {
		return
	}
	e, err := h.openLedger(ctx, job.NewRun{ID: run.ID, Policy: run.Policy}, journal.Run{CostUSD: run.Granted.CostUSD})
	if err != nil {
		h.say(fault.Told(err))
		return
	}
	e.Began, h.ledgerEntry = run.Granted.At, e
	h.leaveLedger(ctx, run)
}

// releaseKilled gives the killed job's lease back, and keeps what its journal has come
// to since. What fails there is no loss: GitHub says that the job is over. An attempt at
// red checks that did not end still counts, and the draft is still ralph's.
func (h *handler) releaseKilled(ctx context.Context, killed Outcome, ended bool) {
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
	if l := found.lease; !ended && (l.Ready || l.Attempts.OfPull > 0) {
		s.lease, during = l, expiredLease
	}
	h.releaseLease(ctx, previousState{state: s, found: found}, killed, during)
}

package action

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// previousRun is the task's newest run, from this machine if it began there, or from its ref on
// GitHub. It ignores other journals in the workspace: a checkout may have put them there.
type previousRun struct {
	ref   *runRef
	saved savedRun        // what the ref has
	run   journal.Run     // the newer one of both; without a name there is none
	local workspace.Run   // its folder, where it is on this machine; else it is on the ref
	facts verdict.Request // what is asked of it
}

func (h *handler) readPrevious(ctx context.Context, asked job.NewRun) (previousRun, error) {
	r := h.request
	var p previousRun
	var err error
	if p.ref, p.saved, err = h.openRef(ctx); err != nil {
		return p, err
	}
	p.local, p.run = h.newest(p.saved)
	p.facts = verdict.Request{
		Verb:      r.command.Verb,
		Story:     r.command.Story,
		Words:     r.command.Words,
		Asker:     r.trigger.Asker().Login,
		Number:    r.task.Number,
		SameTask:  asked.BaseRef == p.run.BaseRef && asked.Task.IsSame(p.run.Task) && !r.trigger.IsCI(),
		SameRules: verdict.HasRules(p.run, asked.Policy),
		JobURL:    h.env.log(),
		Distrust:  p.saved.whyDoubted,
	}
	if busy, err := p.ref.isJobAtWork(ctx, p.saved.lease); busy || err != nil {
		p.facts.BusyJobURL = p.saved.lease.Page
		return p, err
	}
	isAgain := p.facts.SameTask || p.facts.Verb == trigger.Retry
	if isAgain && r.task.Number != 0 && p.run.IsCompleted() {
		before := cmp.Or(p.run.Published.Pull, &journal.PullOpened{}) // the event may be older than the pull request
		pull, open, err := h.client.FindPull(ctx, p.run.Branch, before.Number)
		if err != nil {
			return p, err
		}
		if open {
			p.facts.Pull = pull.Number
			p.facts.PullHead = pull.HeadSHA
		}
	}
	if r.command.Verb == trigger.Approve {
		shown, err := h.host.shows(ctx, view.PlanText(p.run), r.trigger)
		p.facts.PlanHidden = !shown
		return p, err
	}
	return p, nil
}

// newest returns the task's newest run, with its folder if that is on this machine.
func (h *handler) newest(saved savedRun) (workspace.Run, journal.Run) {
	task := h.request.task
	local, run := h.env.folder().NewestHere(func(run journal.Run) bool {
		return run.Task.Number == task.Number && run.Task.Repo == task.Repo
	})
	if saved.run.ID != "" && saved.run.Clock.Now.After(run.Clock.Now) {
		return workspace.Run{}, saved.run
	}
	return local, run
}

// openRef also reads what is saved on the task's ref.
func (h *handler) openRef(ctx context.Context) (ref *runRef, saved savedRun, err error) {
	store, err := h.machine.store(ctx)
	if err != nil {
		return nil, saved, err
	}
	ref = &runRef{
		host:  h.host,
		store: store,
		name:  h.request.ref(),
		now:   h.action.Now,
		hard:  h.action.Hard,
		lease: quota.Lease{Job: h.env.job},
	}
	if h.request.task.Number == 0 {
		if _, ref.branch, err = h.request.place(); err != nil {
			return ref, saved, err
		}
	}
	saved, err = ref.read(ctx)
	saved.lease.Page = h.env.logOf(saved.lease.Job)
	return ref, saved, err
}

// statusOrStop answers how the work stands, or cancels the job at work, which saves its work and reports its state.
func (h *handler) statusOrStop(ctx context.Context) error {
	ref, saved, err := h.openRef(ctx)
	if err != nil {
		return h.answers.fail(ctx, err)
	}
	busy, err := ref.isJobAtWork(ctx, saved.lease)
	if err != nil {
		return h.answers.fail(ctx, err)
	}
	if h.request.command.Verb == trigger.Status {
		return h.answers.answer(ctx, statusText(saved, busy))
	}
	if !busy {
		return h.answers.answer(ctx, "No run is active here.")
	}
	if err := h.client.CancelJob(ctx, saved.lease.Job); err != nil {
		return h.answers.fail(ctx, err)
	}
	h.log.say("asked for the end of " + saved.lease.Page)
	return nil
}

func statusText(saved savedRun, busy bool) string {
	text := "Nothing has been done here yet. `/ralph` starts work."
	switch {
	case saved.run.ID != "":
		text = view.Comment(saved.run)
	case busy:
		text = "Work has started. No iteration has ended yet."
	}
	if busy {
		return fmt.Sprintf("[A job](%s) is at work on this. When an iteration last ended:\n\n%s",
			saved.lease.Page, text)
	}
	return text
}

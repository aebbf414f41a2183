package action

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/entry/doctor"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

func (h *handler) checkStart(ctx context.Context, asked *job.NewRun, old journal.Run, way verdict.Decision) error {
	if way.Resume == nil { // it is another run, with a branch of its own
		old = journal.Run{}
	}
	if err := h.whyDeclined(ctx, *asked, old); err != nil {
		return err
	}
	return h.enterLedger(ctx, asked, old)
}

// whyDeclined checks first whether the work can be pushed, and reports all problems at once.
func (h *handler) whyDeclined(ctx context.Context, asked job.NewRun, old journal.Run) error {
	look := doctor.GitHub{
		Client: h.client.Opener(), Clone: h.clone(), Base: asked.BaseRef, Branch: cmp.Or(old.Branch, asked.Branch), Signed: asked.Policy.Sign,
	}
	if len(doctor.Stops(look.Push(ctx))) == 0 {
		return nil
	}
	var gaps, remedies []string
	for _, f := range append(look.Look(ctx), h.checkAgentAndSandbox(ctx, asked)) {
		if f.Gap != "" {
			gaps, remedies = append(gaps, f.What+": "+f.Gap), append(remedies, f.Remedy)
		}
	}
	return fault.Usage("no work started: "+numberedList(gaps), numberedList(remedies), nil)
}

// checkAgentAndSandbox is whether the run could be done here: agent, key, git and sandbox.
func (h *handler) checkAgentAndSandbox(ctx context.Context, asked job.NewRun) doctor.Finding {
	j, err := h.job(ctx, asked.Policy)
	if err != nil {
		return doctor.Finding{What: "this machine", Gap: err.Error(), Remedy: fault.Hint(err)}
	}
	h.closeSandboxes(j.Sandbox, j.ModelServer)
	return doctor.Finding{}
}

// previousState is the task's newest run, from this machine if it began there, or from the state
// ref. It ignores other journals in the workspace: a checkout may have put them there.
type previousState struct {
	state *stateRef // nil: nothing can be kept there
	found savedState
	run   journal.Run   // without a name there is none
	here  workspace.Run // its folder, where it is on this machine; else it is on the state ref
	facts verdict.Request
}

type declinedError struct{ said string }

func (d declinedError) Error() string { return d.said }

func (h *handler) readPrevious(ctx context.Context, asked job.NewRun) (b previousState, err error) {
	if b.state, b.found, err = h.openState(ctx); err != nil {
		return b, err
	}
	b.here, b.run = h.newest(b.found)
	b.facts = verdict.Request{
		Verb: h.command.Verb, Story: h.command.Story, Words: h.command.Words, Asker: h.trigger.Asker().Login, Number: h.task.Number,
		SameTask:  asked.BaseRef == b.run.BaseRef && asked.Task.IsSame(b.run.Task) && !h.trigger.IsCI(),
		SameRules: verdict.HasRules(b.run, asked.Policy), JobURL: h.env.log(), Distrust: b.found.whyDoubted,
	}
	if busy, err := b.state.isJobAtWork(ctx, b.found.lease); busy || err != nil {
		b.facts.BusyJobURL = b.found.lease.Page
		return b, err
	}
	if b.found.unwritable {
		h.say("the run is saved on this machine only: " + b.state.ref + " is not a commit")
		b.state = nil
	}
	if (b.facts.SameTask || b.facts.Verb == trigger.Retry) && h.task.Number != 0 && b.run.IsCompleted() { // the pull request as it is now: the event may be older
		pull, open, err := h.client.FindPull(ctx, b.run.Branch, cmp.Or(b.run.Pull, &journal.PullOpened{}).Number)
		if err != nil {
			return b, err
		}
		if open {
			b.facts.Pull, b.facts.PullHead = pull.Number, pull.HeadSHA
		}
	}
	if h.command.Verb == trigger.Approve {
		shown, err := h.host.shows(ctx, view.PlanText(b.run), h.trigger)
		b.facts.PlanHidden = !shown
		return b, err
	}
	return b, nil
}

func (h *handler) newest(found savedState) (here workspace.Run, run journal.Run) {
	here, run = h.folder().NewestHere(func(run journal.Run) bool {
		return run.Task.Number == h.task.Number && run.Task.Repo == h.task.Repo
	})
	if found.run.ID != "" && found.run.Now.After(run.Now) {
		return workspace.Run{}, found.run
	}
	return here, run
}

// shows reports whether the progress comment holds a text unchanged since t.
func (h *branchHost) shows(ctx context.Context, text string, t trigger.Trigger) (bool, error) {
	h.showing.Lock()
	defer h.showing.Unlock()
	found, is, err := h.client.FindComment(ctx, h.issue, marker)
	body := strings.ReplaceAll(found.Body, "\r\n", "\n") // as a browser sends it for a box that was ticked
	return is && found.ReadBefore(t) && strings.Contains(body, "\n\n"+h.hide(text)+"\n\n"), err
}

func (h *event) folder() workspace.Folder {
	return workspace.Folder{Path: h.env.folder(), StateDir: workspace.UserStateDir(h.Getenv("HOME"))}
}

// claim takes the lease. Where GitHub refuses such refs, the work continues without.
func (h *handler) claim(ctx context.Context, b previousState, during time.Duration) (bool, error) {
	if b.state == nil {
		return false, nil
	}
	lease := &b.state.lease
	lease.Attempts, lease.ReadyHead = h.task.Attempts, b.found.lease.ReadyHead
	if lease.ReadyHead == "" && h.isOwnPull() && !h.trigger.Pull.Draft {
		lease.ReadyHead = h.trigger.Pull.HeadSHA
	}
	_, err := b.state.write(ctx, b.found.files, "at work", during)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, job.ErrTakenOver):
		return false, declinedError{"Another job started work on this at the same moment. Its progress comment shows the state."}
	case ctx.Err() != nil:
		return false, err
	}
	h.say("the run is saved on this machine only: " + fault.Told(err))
	return false, nil
}

// expiredLease is for a lease that has ended, and still says what its job did.
const expiredLease = time.Nanosecond

// releaseLease releases the lease, or keeps it during a time. The saved state of a broken run stays.
func (h *handler) releaseLease(ctx context.Context, b previousState, outcome job.Outcome, during time.Duration) {
	if process.IsClosed(h.Hard) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
	defer cancel()
	if files, err := outcome.Home.Pack(); err == nil {
		b.found.files = files
	}
	if _, err := b.state.write(ctx, b.found.files, "left", during); err != nil {
		h.say("could not release the lease: " + fault.Told(err))
	}
}

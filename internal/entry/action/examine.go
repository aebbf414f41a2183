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

func (h *handler) checkStart(
	ctx context.Context, asked *job.NewRun, old journal.Run, decision verdict.Decision,
) error {
	if decision.Resume == nil { // it is another run, with a branch of its own
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
		Client: h.client.Opener(),
		Clone:  h.clone(),
		Base:   asked.BaseRef,
		Branch: cmp.Or(old.Branch, asked.Branch),
	}
	if !look.Push(ctx).Stops {
		return nil
	}
	var gaps, remedies []string
	for _, f := range append(look.Look(ctx), h.checkAgentAndSandbox(ctx, asked)) {
		if f.Gap != "" {
			gaps = append(gaps, f.What+": "+f.Gap)
			remedies = append(remedies, f.Remedy)
		}
	}
	return fault.Usage("no work started: "+numberedList(gaps), numberedList(remedies), nil)
}

// checkAgentAndSandbox returns what this machine lacks for the run: agent, key, git or sandbox.
func (h *handler) checkAgentAndSandbox(ctx context.Context, asked job.NewRun) doctor.Finding {
	j, err := h.job(ctx, asked.Policy)
	if err != nil {
		return doctor.Finding{What: "this machine", Gap: err.Error(), Remedy: fault.Hint(err)}
	}
	h.closeSandbox(j.Sandbox)
	return doctor.Finding{}
}

// previousState is the task's newest run, from this machine if it began there, or from the state
// ref. It ignores other journals in the workspace: a checkout may have put them there.
type previousState struct {
	state *stateRef // nil: nothing can be kept there
	found savedState
	run   journal.Run   // without a name there is none
	local workspace.Run // its folder, where it is on this machine; else it is on the state ref
	facts verdict.Request
}

type declinedError struct{ text string }

func (d declinedError) Error() string { return d.text }

func (h *handler) readPrevious(ctx context.Context, asked job.NewRun) (previousState, error) {
	var p previousState
	var err error
	if p.state, p.found, err = h.openState(ctx); err != nil {
		return p, err
	}
	p.local, p.run = h.newest(p.found)
	p.facts = verdict.Request{
		Verb:      h.command.Verb,
		Story:     h.command.Story,
		Words:     h.command.Words,
		Asker:     h.trigger.Asker().Login,
		Number:    h.task.Number,
		SameTask:  asked.BaseRef == p.run.BaseRef && asked.Task.IsSame(p.run.Task) && !h.trigger.IsCI(),
		SameRules: verdict.HasRules(p.run, asked.Policy),
		JobURL:    h.env.log(),
		Distrust:  p.found.whyDoubted,
	}
	if busy, err := p.state.isJobAtWork(ctx, p.found.lease); busy || err != nil {
		p.facts.BusyJobURL = p.found.lease.Page
		return p, err
	}
	if p.found.unwritable {
		h.say("the run is saved on this machine only: " + p.state.ref + " is not a commit")
		p.state = nil
	}
	isAgain := p.facts.SameTask || p.facts.Verb == trigger.Retry
	if isAgain && h.task.Number != 0 && p.run.IsCompleted() {
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
	if h.command.Verb == trigger.Approve {
		shown, err := h.host.shows(ctx, view.PlanText(p.run), h.trigger)
		p.facts.PlanHidden = !shown
		return p, err
	}
	return p, nil
}

// newest returns the task's newest run, with its folder if that is on this machine.
func (h *handler) newest(found savedState) (workspace.Run, journal.Run) {
	local, run := h.folder().NewestHere(func(run journal.Run) bool {
		return run.Task.Number == h.task.Number && run.Task.Repo == h.task.Repo
	})
	if found.run.ID != "" && found.run.Clock.Now.After(run.Clock.Now) {
		return workspace.Run{}, found.run
	}
	return local, run
}

// shows reports whether the progress comment holds a text unchanged since t.
func (h *branchHost) shows(ctx context.Context, text string, t trigger.Trigger) (bool, error) {
	h.showing.Lock()
	defer h.showing.Unlock()
	comment, found, err := h.client.FindComment(ctx, h.issue, marker)
	if err != nil || !found || !comment.ReadBefore(t) {
		return false, err
	}
	body := strings.ReplaceAll(comment.Body, "\r\n", "\n") // as a browser sends it for a box that was ticked
	return strings.Contains(body, "\n\n"+h.hide(text)+"\n\n"), nil
}

func (h *event) folder() workspace.Folder {
	return workspace.Folder{Path: h.env.folder(), StateDir: workspace.UserStateDir(h.Getenv("HOME"))}
}

// claim takes the lease. Where GitHub refuses such refs, the work continues without.
func (h *handler) claim(ctx context.Context, previous previousState, during time.Duration) (bool, error) {
	if previous.state == nil {
		return false, nil
	}
	lease := &previous.state.lease
	lease.Attempts = h.task.Attempts
	lease.ReadyHead = previous.found.lease.ReadyHead
	if lease.ReadyHead == "" && h.isOwnPull() && !h.trigger.Pull.Draft {
		lease.ReadyHead = h.trigger.Pull.HeadSHA
	}
	_, err := previous.state.write(ctx, previous.found.files, "at work", during)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, job.ErrTakenOver):
		return false, declinedError{
			"Another job started work on this at the same moment. Its progress comment shows the state.",
		}
	case ctx.Err() != nil:
		return false, err
	}
	h.say("the run is saved on this machine only: " + fault.Told(err))
	return false, nil
}

// expiredLease is for a lease that has ended, and still says what its job did.
const expiredLease = time.Nanosecond

// releaseLease releases the lease, or keeps it during a time. The saved state of a broken run stays.
func (h *handler) releaseLease(
	ctx context.Context, previous previousState, outcome job.Outcome, during time.Duration,
) {
	if process.IsClosed(h.Hard) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
	defer cancel()
	files := previous.found.files
	if packed, err := outcome.Home.Pack(); err == nil {
		files = packed
	}
	if _, err := previous.state.write(ctx, files, "left", during); err != nil {
		h.say("could not release the lease: " + fault.Told(err))
	}
}

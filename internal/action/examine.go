package action

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// admitted checks that the run can work, and fits beside others.
func (v *visit) admitted(ctx context.Context, asked *job.NewRun, old journal.Run, way verdict.Decision) error {
	if way.Resume == nil { // it is another run, with a branch of its own
		old = journal.Run{}
	}
	if err := v.examine(ctx, *asked, old); err != nil {
		return err
	}
	return v.enter(ctx, asked, old)
}

// examine checks first whether the work can be pushed, and reports all problems at once.
func (v *visit) examine(ctx context.Context, asked job.NewRun, old journal.Run) error {
	look := doctor.GitHub{
		Client: v.hub.starting(), Clone: v.clone(), Base: asked.BaseRef, Branch: cmp.Or(old.Branch, asked.Branch), Signed: asked.Policy.Sign,
	}
	if len(doctor.Stops(look.Push(ctx))) == 0 {
		return nil
	}
	var gaps, remedies []string
	for _, f := range append(look.Look(ctx), v.site(ctx, asked)) {
		if f.Gap != "" {
			gaps, remedies = append(gaps, f.What+": "+f.Gap), append(remedies, f.Remedy)
		}
	}
	return fault.Usage("no work started: "+numbered(gaps), numbered(remedies), nil)
}

// site is whether the run could be done here: agent, key, git and sandbox.
func (v *visit) site(ctx context.Context, asked job.NewRun) doctor.Finding {
	j, err := v.job(ctx, asked.Policy)
	if err != nil {
		return doctor.Finding{What: "this machine", Gap: err.Error(), Remedy: fault.Hint(err)}
	}
	v.lower(j.Sandbox, j.ModelServer)
	return doctor.Finding{}
}

// before is what is known of the task's newest run: from this machine, if it began
// there, or from the shelf. Other journals in the workspace say nothing: a checkout or
// another workflow may have put them there.
type before struct {
	shelf  *stateRef // nil: nothing can be kept there
	found  kept
	run    journal.Run   // without a name there is none
	here   workspace.Run // its folder, where it is on this machine; else it is on the shelf
	busy   bool          // another job is at work on the task
	stands string        // the pull request that holds its work as it was left
	unseen bool          // the progress comment does not show the plan that waits for approval
}

type declined struct{ said string }

func (d declined) Error() string { return d.said }

func (v *visit) before(ctx context.Context, asked job.NewRun) (b before, err error) {
	if b.shelf, b.found, err = v.standing(ctx); err != nil {
		return b, err
	}
	b.here, b.run = v.newest(b.found)
	if b.busy, err = b.shelf.busy(ctx, b.found.lease); b.busy || err != nil {
		return b, err
	}
	if b.found.closed {
		v.say("the run is saved on this machine only: " + b.shelf.ref + " is not a commit")
		b.shelf = nil
	}
	if b.stands, err = v.stands(ctx, same(asked, b.run), b.run); err != nil {
		return b, err
	}
	if v.command.Verb == trigger.Approve && verdict.NeedsApproval(b.run) {
		shown, err := v.hub.shows(ctx, view.PlanText(b.run), v.trigger)
		b.unseen = !shown
		return b, err
	}
	return b, nil
}

func (v *visit) newest(found kept) (here workspace.Run, run journal.Run) {
	here, run = v.folder().NewestVouched(func(run journal.Run) bool {
		return run.Task.Number == v.task.Number && run.Task.Repo == v.task.Repo
	})
	if found.run.ID != "" && found.run.Now.After(run.Now) {
		return workspace.Run{}, found.run
	}
	return here, run
}

func (v *visit) way(asked job.NewRun, b before) verdict.Decision {
	a := verdict.Request{
		Verb: v.command.Verb, Story: v.command.Story, Words: v.command.Words, Asker: v.trigger.Asker().Login, Number: v.task.Number,
		SameTask: !v.trigger.IsCI() && same(asked, b.run), JobURL: v.env.log(), Distrust: b.found.doubt, ProvenPull: b.stands, PlanHidden: b.unseen,
	}
	if b.busy {
		a.BusyJobURL = b.found.lease.Page
	}
	return verdict.Decide(a, b.run)
}

// shows reports whether the progress comment holds a text unchanged since t.
func (h *branchHost) shows(ctx context.Context, text string, t trigger.Trigger) (bool, error) {
	h.shown.Lock()
	defer h.shown.Unlock()
	found, is, err := h.client.FindComment(ctx, h.issue, marker)
	body := strings.ReplaceAll(found.Body, "\r\n", "\n") // as a browser sends it for a box that was ticked
	return is && found.ReadBefore(t) && strings.Contains(body, "\n\n"+h.hide(text)+"\n\n"), err
}

func (v *visit) shelved(ctx context.Context, s *stateRef) (kept, error) {
	return patiently(ctx, breath, func() (kept, error) { return s.look(ctx) })
}

func (v *visit) folder() workspace.Folder {
	return workspace.Folder{Path: v.env.folder(), StateDir: workspace.UserStateDir(v.Getenv("HOME"))}
}

// claim takes the lease. Where GitHub refuses such refs, the work continues without.
func (v *visit) claim(ctx context.Context, b before, during time.Duration) (bool, error) {
	if b.shelf == nil {
		return false, nil
	}
	lease := &b.shelf.lease
	lease.Attempts, lease.Ready, lease.ReadyHead = v.task.Attempts, b.found.lease.Ready, b.found.lease.ReadyHead
	if !lease.Ready && v.own() && !v.trigger.Pull.Draft {
		lease.Ready, lease.ReadyHead = true, v.trigger.Pull.HeadSHA
	}
	_, err := b.shelf.write(ctx, b.found.files, "at work", during)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, job.ErrTakenOver):
		return false, declined{"Another job started work on this at the same moment. Its progress comment shows the state."}
	case ctx.Err() != nil:
		return false, err
	}
	v.say("the run is saved on this machine only: " + fault.Told(err))
	return false, nil
}

func (b before) home(folder workspace.Folder) (workspace.Run, error) {
	if b.here.ID != "" {
		return b.here, nil
	}
	return folder.Unpack(b.run.ID, b.found.files)
}

func (v *visit) ended() bool { return closed(v.Hard) }

func closed(signal <-chan struct{}) bool {
	select {
	case <-signal:
		return true
	default:
		return false
	}
}

// over is for a lease that has ended, and still says what its job did.
const over = time.Nanosecond

// quit releases the lease, or keeps it during a time. The saved state of a broken run stays.
func (v *visit) quit(ctx context.Context, b before, outcome Outcome, during time.Duration) {
	if v.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if files, err := outcome.Home.Pack(); err == nil {
		b.found.files = files
	}
	if _, err := b.shelf.write(ctx, b.found.files, "left", during); err != nil {
		v.say("could not release the lease: " + fault.Told(err))
	}
}

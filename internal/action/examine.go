package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// admitted tells whether the run may begin: whether it can get anywhere at all, and
// fits beside others.
func (v *visit) admitted(ctx context.Context, asked *job.Asked, old journal.Run, way verdict.Way) error {
	if way.GoOn == nil { // it is another run, with a branch of its own
		old = journal.Run{}
	}
	if err := v.examine(ctx, *asked, old); err != nil {
		return err
	}
	return v.enter(ctx, asked, old)
}

// examine looks whether the work could be pushed at all, before anything is spent. If
// not, all that is wrong is looked for, so that people hear of it at once.
func (v *visit) examine(ctx context.Context, asked job.Asked, old journal.Run) error {
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
	return fault.Usage("nothing was begun: "+numbered(gaps), numbered(remedies), nil)
}

// site is whether the run could be done here: agent, key, git and sandbox.
func (v *visit) site(ctx context.Context, asked job.Asked) doctor.Finding {
	j, err := v.job(ctx, asked.Policy)
	if err != nil {
		return doctor.Finding{What: "this machine", Gap: err.Error(), Remedy: fault.Hint(err)}
	}
	v.lower(j.Sandbox, j.Held)
	return doctor.Finding{}
}

// numbered are texts of which the first belongs to the first of another list.
func numbered(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "(%d) %s; ", i+1, cmp.Or(text, "see above"))
	}
	return strings.TrimSuffix(b.String(), "; ")
}

// before is what is known of the task's newest run: from this machine, which
// may have been here before, or from the shelf.
type before struct {
	shelf *stateRef // nil: nothing can be kept there
	found kept
	run   journal.Run   // without a name there is none
	here  workspace.Run // its folder, where it is on this machine; else it is on the shelf
	notes []journal.Noted
}

// declined is an answer to somebody who asked for what cannot be: no error.
type declined struct{ said string }

func (d declined) Error() string { return d.said }

// before looks for the task's newest run, and whether somebody is at work on it.
func (v *visit) before(ctx context.Context) (before, error) {
	var b before
	b.here, _ = v.folder().Unfinished(func(run journal.Run) bool {
		b.run = run
		return run.Task.Number == v.task.Number && run.Task.Repo == v.task.Repo
	})
	if b.here.ID == "" {
		b.run = journal.Run{}
	}
	s, err := v.openShelf(ctx)
	if err != nil {
		return b, err
	}
	b.shelf = s
	if b.found, err = v.shelved(ctx, s); err != nil {
		return b, err
	}
	if b.found.closed {
		v.say("the run is kept on this machine alone: " + s.ref + " holds what is no commit")
		b.shelf = nil
	}
	busy, err := s.busy(ctx, b.found.lease)
	switch {
	case err != nil:
		return b, err
	case busy:
		return b, declined{v.occupied(b.found.lease.Page)}
	case b.found.doubt != "":
		b.notes = append(b.notes, journal.Noted{What: b.found.doubt + "; nothing of it is believed, and its work on the branch is judged anew"})
	}
	if b.found.run.ID != "" && b.found.run.Now.After(b.run.Now) {
		b.run, b.here = b.found.run, workspace.Run{}
	}
	return b, nil
}

// occupied is said while another job is at work on the same.
func (v *visit) occupied(page string) string {
	if v.task.Number == 0 {
		return "a job is at work on this already: " + page + ". Cancel that, or wait for it; then ask again."
	}
	return fmt.Sprintf("[A job](%s) is at work on this already. `/ralph stop` ends it; then ask again.", page)
}

// shelved looks at the shelf, and again where GitHub could not be reached.
func (v *visit) shelved(ctx context.Context, s *stateRef) (kept, error) {
	return patiently(ctx, breath, func() (kept, error) { return s.look(ctx) })
}

func (v *visit) folder() workspace.Folder { return workspace.Folder{Path: v.env.folder()} }

// claim says on the shelf that this job is at work, and tells whether the run
// can be kept there. Where GitHub takes no such refs the work goes on without.
func (v *visit) claim(ctx context.Context, b before, during time.Duration) (bool, error) {
	if b.shelf == nil {
		return false, nil
	}
	err := b.shelf.take(ctx, b.found, during)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, job.ErrTakenOver):
		return false, declined{"Another job has begun to work on this at the same moment. Its progress comment tells how it goes."}
	case ctx.Err() != nil:
		return false, err
	}
	v.say("the run is kept on this machine alone: " + fault.Told(err))
	return false, nil
}

// home is the run's folder, unpacked where it comes from the shelf.
func (b before) home(folder workspace.Folder) (workspace.Run, error) {
	if b.here.ID != "" {
		return b.here, nil
	}
	return folder.Unpack(b.run.ID, b.found.files)
}

// ended tells that the job is to end as if killed.
func (v *visit) ended() bool {
	select {
	case <-v.Hard:
		return true
	default:
		return false
	}
}

// quit says that nobody is at work any more. What was kept of a run that broke
// stays.
func (v *visit) quit(ctx context.Context, b before, outcome Outcome) {
	if v.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if files, err := outcome.Home.Carry(); err == nil {
		b.found.files = files
	}
	if err := b.shelf.release(ctx, b.found); err != nil {
		v.say("the lease was not given back: " + fault.Told(err))
	}
}

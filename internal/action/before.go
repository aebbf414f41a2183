package action

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// before is what is known of the task's newest run: from this machine, which
// may have been here before, or from the shelf.
type before struct {
	shelf *shelf // nil: nothing can be kept there
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
func (v *visit) shelved(ctx context.Context, s *shelf) (kept, error) {
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

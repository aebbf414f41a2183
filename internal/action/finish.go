package action

import (
	"context"
	"fmt"
	"os"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/untrusted"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Finish has the last word for a job that was killed: otherwise its comment
// would say for ever that an agent is at work. It keeps the journal for the
// next job. If the comment already shows the end, it asks GitHub nothing.
func (a Action) Finish(ctx context.Context) error {
	v := a.visit()
	if err := v.read(); err != nil {
		return err
	}
	home, run, open := v.left()
	if !open {
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
	v.hub = v.hubOf(run.Task.Number)
	ended := "its job was killed after the run had ended; its comment is up to date now"
	if run.Stop == nil {
		run.Stop = &journal.RunStopped{Reason: policy.Cancelled, Why: "its job was killed before it could save the current step"}
		ended = "the run was killed; its comment says so now"
	}
	v.show(ctx, view.Of(run))
	v.answerThreads(ctx, run)
	v.answerAsker(ctx, run)
	v.vacate(ctx, Outcome{Run: run, Home: home})
	v.remember(home)
	v.say(ended)
	return nil
}

// left is the run that this job began or went on with, if people have not heard
// how it ended.
func (v *visit) left() (home workspace.Run, run journal.Run, open bool) {
	home, run = v.folder().NewestVouched(func(newest journal.Run) bool { return newest.Links.Log == v.env.log() })
	return home, run, home.ID != "" && !v.heard(home)
}

// toldFile lies in the project's folder, and says of which run people have heard
// how it ended.
const toldFile = "told"

// told is what stands there of a run. One that has gone on since has a longer
// journal.
func told(home workspace.Run) string {
	info, err := os.Stat(home.Journal())
	if err != nil {
		return home.ID
	}
	return fmt.Sprintf("%s %d", home.ID, info.Size())
}

// remember writes it down. Where that cannot be, people are told twice.
func (v *visit) remember(home workspace.Run) {
	root, err := untrusted.OpenRoot(v.env.folder())
	if err != nil {
		return
	}
	defer root.Close() //nolint:errcheck // only a handle
	if err := root.WriteFile(toldFile, []byte(told(home)), 0o644); err != nil {
		v.say("could not record that the comment was updated: " + err.Error())
	}
}

func (v *visit) heard(home workspace.Run) bool {
	root, err := untrusted.OpenRoot(v.env.folder())
	if err != nil {
		return false
	}
	defer root.Close() //nolint:errcheck // only a handle
	said, err := root.ReadFile(toldFile, 4096)
	return err == nil && string(said) == told(home)
}

// vacate gives the killed job's lease back, and keeps what its journal has come
// to since. What fails there is no loss: GitHub says that the job is over.
func (v *visit) vacate(ctx context.Context, killed Outcome) {
	if !killed.Run.Policy.SaveRun {
		return
	}
	s, found, err := v.standing(ctx)
	if err != nil {
		v.say(fault.Told(err))
		return
	}
	if found.lease.Job == s.lease.Job {
		v.quit(ctx, before{shelf: s, found: found}, killed)
	}
}

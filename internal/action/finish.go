package action

import (
	"context"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Finish has the last word in the place of a job that was killed: else its
// comment would tell for ever that an agent is at work. The run's journal stays
// as it is, for whoever goes on with it. Where nothing was left open, nobody is
// asked anything.
func (a Action) Finish(ctx context.Context) error {
	v := a.visit()
	if err := v.read(); err != nil {
		return err
	}
	home, run, open := v.left()
	if !open {
		v.say("nothing was left open")
		return nil
	}
	if err := v.folder().Free(); err != nil { // it is at work
		return err
	}
	if err := v.connect(); err != nil {
		return err
	}
	v.task = run.Task
	v.hub = v.hubOf(run.Task.Number)
	run.Stop = &journal.RunStopped{Reason: policy.Cancelled, Why: "its job was killed before it could save what was under way"}
	v.show(ctx, view.Of(run))
	v.react(ctx, github.Confused)
	v.vacate(ctx, Outcome{Run: run, Home: home})
	v.say("the run was killed; its comment says so now")
	return nil
}

// left is the run that this job began or went on with, if it has not ended.
func (v *visit) left() (home workspace.Run, run journal.Run, open bool) {
	home, open = v.folder().Unfinished(func(newest journal.Run) bool {
		run = newest
		return newest.Links.Log == v.env.log()
	})
	return home, run, open
}

// vacate gives the killed job's lease back, and keeps what its journal has come
// to since. What fails there is no loss: GitHub says that the job is over.
func (v *visit) vacate(ctx context.Context, killed Outcome) {
	if v.task.Number == 0 || !killed.Run.Policy.Shelve {
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

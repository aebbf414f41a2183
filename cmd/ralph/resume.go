package main

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type resumeCommand struct {
	local
	ID string `arg:"" optional:"" name:"run" help:"The run; the newest one that is not complete when not given."`
}

// Help gives the example.
func (resumeCommand) Help() string {
	return `What was done is not done again, and the limits count anew.

Example: ralph resume`
}

func (resumeCommand) guarded() bool { return true }
func (resumeCommand) drains() bool  { return true }

func (c resumeCommand) run(ctx context.Context, w world) (int, error) {
	d, done, err := c.open(ctx, w)
	if err != nil {
		return 0, err
	}
	defer done()
	home, old, err := c.find(d)
	if err != nil {
		return 0, err
	}
	if d.Agent == "" {
		d.Agent = old.Policy.Agent
	}
	j, err := d.job(ctx, old.Policy)
	if err != nil {
		return 0, err
	}
	return d.see(ctx, old.Policy, func() (job.Outcome, error) { return j.Resume(ctx, home, "asked to") })
}

// find is the run to go on with.
func (c resumeCommand) find(d *desk) (workspace.Run, journal.Run, error) {
	folder := workspace.Folder{Path: d.folder()}
	var old journal.Run
	passed := false // one that only its people can go on with
	home, _ := folder.Unfinished(func(run journal.Run) bool {
		old = run
		passed = passed || open(run) && supervised(run)
		return c.ID == "" && open(run) && !supervised(run) || c.ID == run.ID
	})
	switch {
	case home.ID == "" && c.ID != "":
		return home, old, fault.Usage("there is no run "+c.ID, "see .ralph/runs", nil)
	case home.ID == "" && passed:
		return home, old, fault.Usage("there is nothing to go on with but a supervised command",
			"start that again: ralph supervise -- COMMAND", nil)
	case home.ID == "":
		return home, old, fault.Usage("there is nothing to go on with", "begin a run: ralph run", nil)
	case supervised(old):
		return home, old, fault.Usage(fmt.Sprintf("the run %s supervises a command, which is not on record", old.ID),
			"start it again: ralph supervise -- COMMAND", nil)
	case !open(old):
		return home, old, fault.Usage(fmt.Sprintf("the run %s is complete", old.ID), "begin a new one: ralph run", nil)
	}
	return home, old, nil
}

// open tells of a run that did not complete.
func open(run journal.Run) bool {
	return run.Stop == nil || run.Stop.Reason.Status() != policy.StatusCompleted
}

// supervised tells of a run whose command is not on record: nobody but its
// people can start it again.
func supervised(run journal.Run) bool { return run.Policy.Done == policy.ByFile }

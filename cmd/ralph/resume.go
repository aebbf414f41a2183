package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type resumeCommand struct {
	local
	MaximumIterations *int   `short:"m" xor:"n" placeholder:"N" help:"Give up after this many more iterations; 0: never."`
	MaxIterations     *int   `short:"n" xor:"n" hidden:"" help:"The same."`
	Answer            string `placeholder:"TEXT" help:"What the agent asked for, or anything else it should know from here on."`
	ID                string `arg:"" optional:"" name:"run" help:"The run; the newest one that is not complete when not given."`
}

// Validate refuses limits that would silently be none.
func (c resumeCommand) Validate() error {
	return errors.Join(
		c.local.Validate(),
		reasonable("--maximum-iterations", c.MaximumIterations, most),
		reasonable("--max-iterations", c.MaxIterations, most),
	)
}

// Help gives the example.
func (resumeCommand) Help() string {
	return `What was done is not done again, and the limits count anew: those of the run, or
those given here.

Example: ralph resume --max-cost 10`
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
	if err := c.known(d, old.Policy); err != nil {
		return 0, err
	}
	if err := d.takesAgain(ctx, old); err != nil {
		return 0, err
	}
	p := c.over(old.Policy)
	j, err := d.job(ctx, p)
	if err != nil {
		return 0, err
	}
	defer d.lower(j.Wall, j.Held)
	p.Agent = j.Agent.Name
	resumed := journal.Resumed{Why: "asked to", Policy: &p, Level: d.level(j.Wall), Words: strings.TrimSpace(c.Answer)}
	if d.DryRun {
		return d.dryAgain(j, journal.Fold(old, journal.Entry{Seq: old.Seq + 1, At: w.now(), Event: resumed}))
	}
	return d.see(ctx, j, p, func() (job.Outcome, error) {
		if err := d.rejoin(ctx, j, old); err != nil {
			return job.Outcome{}, err
		}
		return j.Resume(ctx, home, resumed)
	})
}

// known has the agent be that of the run, where no other is named. A command is
// not on record, as command lines hold keys.
func (c resumeCommand) known(d *desk, old policy.Policy) error {
	if c.Worktree && !old.Apart {
		return fault.Usage("the run is not one with --worktree", "go on with it where it is, or begin a new one: ralph run --worktree", nil)
	}
	unnamed := d.Agent == "" && c.AgentCommand == ""
	switch {
	case unnamed && old.Agent == "command" && d.settings.Agent.Command == "", unnamed && old.Agent == "scripted":
		return fault.Usage("the command that was the agent of that run is not on record", "give it again: "+view.Resume(old.Agent), nil)
	case unnamed && old.Agent != "command":
		d.Agent = old.Agent
	}
	return nil
}

// over lays the flags over the policy of the run.
func (c resumeCommand) over(p policy.Policy) policy.Policy {
	p.Limits = c.limits(p.Limits)
	p.Limits.Iterations = given(c.MaxIterations, given(c.MaximumIterations, p.Limits.Iterations))
	p.Model = cmp.Or(c.Model, p.Model)
	return p
}

// find is the run to go on with.
func (c resumeCommand) find(d *desk) (workspace.Run, journal.Run, error) {
	folder := workspace.Folder{Path: d.folder()}
	var old journal.Run
	if err := folder.Readable(c.ID); err != nil {
		return workspace.Run{}, old, err
	}
	var passed journal.Run // the newest one that goes on elsewhere
	home, _ := folder.Unfinished(func(run journal.Run) bool {
		old = run
		elsewhere := supervised(run) || inSession(run)
		if elsewhere && !run.Completed() && passed.ID == "" {
			passed = run
		}
		return c.ID == "" && !run.Completed() && !elsewhere || c.ID == run.ID
	})
	switch {
	case home.ID == "" && c.ID != "":
		return home, old, fault.Usage("there is no run "+c.ID, "see .ralph/runs", nil)
	case home.ID == "" && passed.ID != "":
		return home, old, elsewhere(passed)
	case home.ID == "":
		return home, old, fault.Usage("there is nothing to go on with", "begin a run: ralph run", nil)
	case inSession(old) && !old.Completed(), supervised(old):
		return home, old, elsewhere(old)
	case old.Completed():
		return home, old, fault.Usage(fmt.Sprintf("the run %s is complete", old.ID), "begin a new one: ralph run", nil)
	}
	return home, old, nil
}

// elsewhere is how a run goes on that this command cannot go on with.
func elsewhere(run journal.Run) error {
	switch {
	case supervised(run):
		return fault.Usage(fmt.Sprintf("the run %s supervises a command, which is not on record", run.ID),
			"start it again: ralph supervise -- COMMAND", nil)
	case run.Stop == nil:
		return fault.Usage(fmt.Sprintf("the run %s %s", run.ID, view.Headline(run)), view.Next(run), nil)
	}
	return fault.Usage(fmt.Sprintf("the run %s is a loop within a session of Claude Code", run.ID), "go on with it there: /ralph-loop --resume", nil)
}

// supervised tells of a run whose command is not on record: nobody but its
// people can start it again.
func supervised(run journal.Run) bool { return run.Policy.Done == policy.ByFile }

// inSession tells of a loop that only the agent's own session can go on with.
func inSession(run journal.Run) bool { return run.Policy.Done == policy.ByPromise }

package main

import (
	"cmp"
	"context"
	"errors"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view"
)

type resumeCommand struct {
	laptop.Flags
	MaximumIterations *int   `short:"m" xor:"n" placeholder:"N" help:"Give up after this many more iterations; 0: never."`
	MaxIterations     *int   `short:"n" xor:"n" hidden:"" help:"The same."`
	Answer            string `placeholder:"TEXT" help:"What the agent asked for, or anything else it should know from here on."`
	ID                string `arg:"" optional:"" name:"run" help:"The run; the newest one that is not complete when not given."`
}

// Validate refuses limits that would silently be none.
func (c resumeCommand) Validate() error {
	return errors.Join(
		c.Flags.Validate(),
		laptop.Reasonable("--maximum-iterations", c.MaximumIterations, laptop.Most),
		laptop.Reasonable("--max-iterations", c.MaxIterations, laptop.Most),
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
	d, done, err := c.Open(ctx, w.World)
	if err != nil {
		return 0, err
	}
	defer done()
	home, old, err := d.Unfinished(c.ID)
	if err != nil {
		return 0, err
	}
	if err := c.known(d, old.Policy); err != nil {
		return 0, err
	}
	return d.Resume(ctx, home, old, c.over(old.Policy), c.Answer)
}

// known has the agent be that of the run, where no other is named. A command is
// not on record, as command lines hold keys.
func (c resumeCommand) known(d *laptop.Project, old policy.Policy) error {
	if c.Worktree && !old.Apart {
		return fault.Usage("the run is not one with --worktree", "go on with it where it is, or begin a new one: ralph run --worktree", nil)
	}
	unnamed := d.Agent == "" && c.AgentCommand == ""
	switch {
	case unnamed && old.Agent == "command" && d.Settings.Agent.Command == "", unnamed && old.Agent == "scripted":
		return fault.Usage("the command that was the agent of that run is not on record", "give it again: "+view.Resume(old.Agent), nil)
	case unnamed && old.Agent != "command":
		d.Agent = old.Agent
	}
	return nil
}

// over lays the flags over the policy of the run.
func (c resumeCommand) over(p policy.Policy) policy.Policy {
	p.Limits = c.Limited(p.Limits)
	p.Limits.Iterations = laptop.Given(c.MaxIterations, laptop.Given(c.MaximumIterations, p.Limits.Iterations))
	p.Model = cmp.Or(c.Model, p.Model)
	return p
}

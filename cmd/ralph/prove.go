//go:build !windows

package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

type proveCommand struct {
	Base  string   `arg:"" optional:"" help:"Commit before the change (default: the default branch). The proof starts at its merge base with HEAD."`
	Head  string   `arg:"" optional:"" help:"Commit with the change (default: HEAD)."`
	Check []string `sep:"none" placeholder:"CMD" help:"Check command, in addition to those of the base's settings. Repeatable."`
	Setup []string `sep:"none" placeholder:"CMD" help:"Setup command, in addition to those of the base's settings. Repeatable."`
	JSON  bool     `name:"json" help:"Print the result as one JSON object."`
	laptop.Clone
}

func (c proveCommand) run(ctx context.Context, w world) (int, error) {
	tool, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	span, err := c.Span(ctx, tool, c.Base, c.Head)
	if err != nil {
		return 0, err
	}
	var outcome checkout.Outcome
	err = c.Verify(ctx, w.World, tool, func(v *checkout.Verifier) error {
		v.Hand.Began = progress(w.World)
		run, err := v.Prove(ctx, c.ProjectDir, span, c.Rules(c.Check, c.Setup))
		outcome = checkout.Sum(run)
		return err
	})
	if err != nil {
		return 0, fault.Usage("the change cannot be proven or refuted", fault.Hint(err), err)
	}
	err = w.show(c.JSON, outcome, clean.LogLines(outcome.Text()))
	switch outcome.Result {
	case journal.Proven, journal.DocumentsOnly, journal.TestsOnly:
		return fault.ExitDone, err
	case journal.Unknown:
		return fault.ExitUsage, err
	case journal.NoNewFailingTest, journal.NeedsReview, journal.Failed:
	}
	return fault.ExitStopped, err
}

type evalCommand struct{ laptop.Eval }

func (c evalCommand) run(ctx context.Context, w world) (int, error) {
	sum, err := c.Try(ctx, w.World)
	if err != nil {
		return 0, err
	}
	err = w.show(c.JSON, sum, clean.LogLines(sum.Text()))
	switch {
	case sum.False > 0:
		return fault.ExitStopped, err
	case sum.Tried == 0, sum.Tried+sum.Aside < sum.Tasks:
		return fault.ExitUsage, err
	}
	return fault.ExitDone, err
}

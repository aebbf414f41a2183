//go:build !windows

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

type verifyCommand struct {
	File string `arg:"" type:"path" help:"File evidence.json of a run; with --signed its evidence.sigstore.json."`
	laptop.Signature
	laptop.Clone
}

func (c verifyCommand) run(ctx context.Context, w world) (code int, err error) {
	if c.Signed {
		return c.Signature.Verify(ctx, w.World, c.File, c.ProjectDir)
	}
	e, err := c.read()
	if err != nil {
		return 0, fault.Usage("cannot use "+c.File, "name the evidence.json of a run", err)
	}
	tool, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	var run journal.Run
	err = c.Clone.Verify(ctx, w.World, tool, func(v *checkout.Verifier) (err error) {
		v.Hand.Began = progress(w.World)
		if run, err = v.Verify(ctx, c.ProjectDir, e); err != nil {
			err = fault.Usage("cannot repeat the proof", fault.Hint(err), err)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return c.judge(w.Stdout, e, run)
}

func (c verifyCommand) read() (evidence.Evidence, error) {
	data, err := untrusted.ReadFile(c.File, evidence.MaxSize)
	if err != nil {
		return evidence.Evidence{}, err
	}
	return evidence.Read(data)
}

func (verifyCommand) judge(to io.Writer, e evidence.Evidence, run journal.Run) (int, error) {
	differences := e.Differences(run)
	for _, line := range differences {
		if _, err := fmt.Fprint(to, clean.LogLines("differs: "+line+"\n")); err != nil {
			return 0, err
		}
	}
	if len(differences) > 0 {
		return fault.ExitStopped, nil
	}
	_, err := fmt.Fprint(to, clean.LogLines(fmt.Sprintf("%.12s is as %s says\n", e.Proof.Commit, e.Run)))
	return fault.ExitDone, err
}

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
		v.Kept, v.Hand.Began = c.Kept(w.World, v.Sandbox), progress(w.World)
		run, err := v.Prove(ctx, c.ProjectDir, span, c.Rules(c.Check, c.Setup))
		outcome = checkout.Sum(run)
		return err
	})
	if err != nil {
		return 0, fault.Usage("the change cannot be proven or refuted", fault.Hint(err), err)
	}
	err = w.show(c.JSON, outcome, clean.LogLines(outcome.Text()))
	switch outcome.Grade {
	case checkout.Proven:
		return fault.ExitDone, err
	case checkout.Untold:
		return fault.ExitUsage, err
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

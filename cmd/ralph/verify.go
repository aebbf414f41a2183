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

func (verifyCommand) Help() string {
	return `Repeats the proof of a run: setup and checks on a clean checkout of the commit that
the evidence names, and the tests of each story on the base code. The commands come
from the file, so they run in a sandbox without a network. If this machine has no
such sandbox, nothing runs. Read the commands before you use --no-sandbox.

With --signed, no proof is repeated. The signature is verified offline: the workflow
--identity signed this evidence, and it is about HEAD of the clone. The signed run
must have completed, with nothing that is not verified.

Exit code 0: same result. 1: something differs. 2: cannot tell.

Examples:
  ralph verify .ralph/runs/RUN/evidence.json
  ralph verify --signed --identity URL@REF evidence.sigstore.json`
}

func (verifyCommand) guarded() bool { return true }

func (c verifyCommand) run(ctx context.Context, w world) (code int, err error) {
	if c.Signed {
		return c.Signature.Verify(ctx, w.World, c.File, c.ProjectDir)
	}
	e, err := c.read()
	if err != nil {
		return 0, fault.Usage("cannot use "+c.File, "name the evidence.json of a run", err)
	}
	tool, done, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	defer done()
	var run journal.Run
	err = c.Clone.Verify(ctx, w.World, tool, func(v *checkout.Verifier) (err error) {
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

// Help tells the grades, with an example.
func (proveCommand) Help() string {
	return `Proves the change between two commits of a clone. The checks are those of the base:
from its .ralph/settings.json, else what its own files suggest.
They run on clean checkouts of both commits, in a sandbox. No agent runs.

Grades: proven (a test fails on the base code and passes with the change), documents
only, tests only, unbroken (no test shows the change), held (existing tests fail on
the new code, or files that define the checks are changed), not proven (a check fails).

Exit code 0: proven. 1: any other grade. 2: cannot tell.

Example: ralph prove main feature`
}

func (proveCommand) guarded() bool { return true }

func (c proveCommand) run(ctx context.Context, w world) (int, error) {
	tool, done, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	defer done()
	span, err := c.Span(ctx, tool, c.Base, c.Head)
	if err != nil {
		return 0, err
	}
	var outcome checkout.Outcome
	err = c.Verify(ctx, w.World, tool, func(v *checkout.Verifier) error {
		v.Kept = c.Kept(w.World, v.Sandbox)
		run, err := v.Prove(ctx, c.ProjectDir, span, c.Rules(c.Check, c.Setup))
		outcome = checkout.Sum(run)
		return err
	})
	if err != nil {
		return 0, fault.Usage("the change cannot be proven or refuted", fault.Hint(err), err)
	}
	if c.JSON {
		err = clean.JSON(w.Stdout, outcome)
	} else {
		_, err = fmt.Fprint(w.Stdout, clean.LogLines(outcome.Text()))
	}
	switch outcome.Grade {
	case checkout.Proven:
		return fault.ExitDone, err
	case checkout.Untold:
		return fault.ExitUsage, err
	}
	return fault.ExitStopped, err
}

type evalCommand struct{ laptop.Eval }

// Help gives the example.
func (evalCommand) Help() string {
	return `Tries an agent on commits that a repository already has. The base is the commit's
parent, the task is its text, and its tests are hidden from the agent. Each task is an
ordinary run in a repository of its own. The result tells which work ralph calls
proven, whether the hidden tests pass, what is falsely ready (proven, and hidden tests
fail) and what is held back (not proven, and they pass), with cost, time and check runs.
A task whose hidden tests pass at the base already shows nothing and is set aside.

Exit code 0: all other tasks were tried, and none is falsely ready. 1: one is. 2: a
task could not be tried, or nothing was.

Example: ralph eval --repo ../project --last 30 --agent claude --max-cost 20`
}

func (evalCommand) guarded() bool { return true }

func (c evalCommand) run(ctx context.Context, w world) (int, error) {
	sum, err := c.Try(ctx, w.World)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		err = clean.JSON(w.Stdout, sum)
	} else {
		_, err = fmt.Fprint(w.Stdout, clean.LogLines(sum.Text()))
	}
	switch {
	case sum.False > 0:
		return fault.ExitStopped, err
	case sum.Tried == 0, sum.Tried+sum.Aside < sum.Tasks:
		return fault.ExitUsage, err
	}
	return fault.ExitDone, err
}

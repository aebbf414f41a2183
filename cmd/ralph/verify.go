//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/evidence"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/view"
)

type verifyCommand struct {
	File       string `arg:"" type:"path" help:"The evidence.json of a run."`
	ProjectDir string `short:"d" default:"." type:"path" placeholder:"DIR" help:"A clone of the repository."`
	laptop.Fence
	laptop.Passing
}

// Help gives the example.
func (verifyCommand) Help() string {
	return `Runs the proof anew: a clean checkout of the commit that the evidence names, its
setup and its checks, and the tests of each story on the base code. The commands
are those of the file, and somebody else may have written it: they run confined,
write to the checkout and to caches that are made for them, and where nothing on
this machine keeps them from the network nothing is run. With --no-sandbox they can
do whatever you can: look at them first.

Exit code 0: all is as it is said. 1: something differs. 2: it cannot be told.

Example: ralph verify .ralph/runs/RUN/evidence.json`
}

func (verifyCommand) guarded() bool { return true }

func (c verifyCommand) run(ctx context.Context, w world) (code int, err error) {
	e, err := c.read()
	if err != nil {
		return 0, fault.Usage("cannot use "+c.File, "name the evidence.json of a run", err)
	}
	tool, done, err := w.SoundGit(ctx, c.ProjectDir)
	if err != nil {
		return 0, err
	}
	defer done()
	dir, swept, err := w.Room("verify")
	if err != nil {
		return 0, err
	}
	defer swept()
	sb, err := c.Raise(ctx, w.World, laptop.Enclosure{Level: sandbox.Auto, Project: c.ProjectDir, Env: w.Environ()})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sb.Close()) }()
	verifier := &checkout.Verifier{
		Sandbox: sb,
		Git:     tool, Dir: dir, Hand: check.Hand{Run: w.Runner.Run, Env: w.Within(sb, c.Env...)},
		Tell: func(run journal.Run, event journal.Event) {
			fmt.Fprint(w.Stderr, clean.LogLines(view.Line(run, event)))
		},
	}
	run, err := verifier.Verify(ctx, c.ProjectDir, e)
	if err != nil {
		return 0, fault.Usage("the proof cannot be made anew", fault.Hint(err), err)
	}
	return c.judge(w.Stdout, e, run)
}

func (c verifyCommand) read() (evidence.Evidence, error) {
	file, err := os.Open(c.File)
	if err != nil {
		return evidence.Evidence{}, err
	}
	defer file.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(file, evidence.Largest+1))
	if err == nil && len(data) > evidence.Largest {
		err = errors.New("it is larger than any evidence")
	}
	if err != nil {
		return evidence.Evidence{}, err
	}
	return evidence.Read(data)
}

// judge says what differs.
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

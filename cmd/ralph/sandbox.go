package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/view"
)

type sandboxCommand struct {
	Level rung     `placeholder:"LEVEL" default:"auto" help:"Of the sandbox: the strongest there is when not given."`
	Allow []string `placeholder:"HOST" help:"A host that it may reach, by its exact name. Repeatable; every public one when not given."`
	passing
	Command []string `arg:"" optional:"" passthrough:"partial" help:"The command, behind --."`
}

// Help gives the example.
func (sandboxCommand) Help() string {
	return `Runs a command as an agent would run on this machine: it can write to the folder
you stand in, in a repository to all of that, and to caches of its own, and read what
programs are made of. Of your environment it knows what toolchains need. What it asks for
outside and does not get is told at the end.

Example: ralph sandbox -- npm test`
}

func (sandboxCommand) guarded() bool { return true }

func (c sandboxCommand) run(ctx context.Context, w world) (int, error) {
	argv := behindDashes(c.Command)
	if len(argv) == 0 {
		return 0, fault.Usage("there is no command to run", "as in: ralph sandbox -- npm test", nil)
	}
	dir, err := filepath.EvalSymlinks(".")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return 0, fmt.Errorf("find the working directory: %w", err)
	}
	home, err := w.homeBeside(dir)
	if err != nil {
		return 0, err
	}
	self, err := executable()
	if err != nil {
		return 0, err
	}
	wall, err := confine.Start(ctx, confine.Options{
		Level: sandbox.Level(c.Level), Self: self, Exec: w.runner.Run, Env: w.environ(), Home: home, Private: []string{git.Around(dir)}, Reach: []string{git.Around(dir)},
		Network: confine.Network{Any: len(c.Allow) == 0, Allow: c.Allow},
	})
	if err != nil {
		return 0, err
	}
	run, seen := w.runner.Run, git.Nested(nil)
	if wall != nil {
		run, seen = wall.Around(w.place(ctx, dir)), git.LookNested(ctx, dir)
	}
	tell := func(event journal.Event) {
		fmt.Fprintln(w.stderr, "ralph:", clean.LogLine(strings.TrimSpace(view.Line(journal.Run{}, event))))
	}
	for _, note := range wall.Notices() {
		tell(note)
	}
	result, err := run(ctx, process.Command{
		Argv: argv, Dir: dir, Env: wall.Env(w.within(wall, c.Env...), false), Stdin: w.stdin, Stdout: w.stdout, Stderr: w.stderr,
	})
	wall.Tell(tell)
	if seen != nil {
		if news := job.Strangers(git.LookNested(context.WithoutCancel(ctx), dir).Since(seen)); news != nil {
			tell(*news)
		}
	}
	if process.CannotStart(err) {
		err = fault.Usage(argv[0]+" cannot be started", process.Remedy(argv[0], err), err)
	}
	return result.Exit, errors.Join(err, wall.Close())
}

// place is a folder, with the repository that it is in. Where git finds none,
// what would make one is guarded all the same.
func (w world) place(ctx context.Context, dir string) confine.Access {
	top, needs := dir, git.Guarded(dir)
	if tree, done, err := w.ownTree(ctx, dir); err == nil {
		defer done()
		top, needs = tree.Dir, tree.Needs()
	}
	return confine.Access{
		Write: append([]string{top}, needs.Write...), Read: needs.Read, Guarded: needs.Guarded,
		ReadOnly: append(needs.ReadOnly, agent.Local(dir)...),
	}
}

// ownTree is the tree of the repository that a folder is in.
func (w world) ownTree(ctx context.Context, dir string) (tree *git.Tree, done func(), err error) {
	tool, done, err := w.git(dir)
	if err != nil {
		return nil, nil, err
	}
	top, err := tool.Inspect(ctx, dir)
	if err == nil {
		tree, err = tool.Own(ctx, top)
	}
	if err != nil {
		done()
	}
	return tree, done, err
}

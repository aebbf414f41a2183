//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type sandboxCommand struct {
	laptop.Fence
	laptop.Reach   `group:"all"`
	laptop.Passing `group:"all"`
	Deliver        bool     `help:"Apply the changes of the command to the files here."`
	Silent         bool     `kong:"-"` // of changes that are not applied
	Command        []string `arg:"" optional:"" passthrough:"partial" help:"Command, after --."`
}

func (c sandboxCommand) run(ctx context.Context, w world) (int, error) {
	argv := behindDashes(c.Command)
	if len(argv) == 0 {
		return 0, fault.Usage("no command given", "for example: ralph sandbox -- npm test", nil)
	}
	if word := c.Command[0]; sandbox.Level(word).Known() {
		return 0, fault.Usage("no -- before the command "+word,
			"give the level with an equals sign: --sandbox="+word, nil)
	}
	dir, err := w.Folder(".")
	if err != nil {
		return 0, err
	}
	command := process.Command{Argv: argv, Dir: dir, Stdin: w.Stdin, Stdout: w.Stdout, Stderr: w.Stderr}
	result, err := c.confine(ctx, w, command)
	if process.CannotStart(err) {
		err = fault.Usage(argv[0]+" cannot be started", process.Remedy(argv[0], err), err)
	}
	return result.Exit, err
}

// confine runs a command in a sandbox around its folder.
func (c sandboxCommand) confine(ctx context.Context, w world, command process.Command) (process.Result, error) {
	dir := command.Dir
	tool, err := w.Git(dir)
	if err != nil {
		return process.Result{}, err
	}
	around, err := c.Around(w.World, dir)
	if err != nil {
		return process.Result{}, err
	}
	around.Needs, err = w.Needs(config.Settings{}, c.Reach, laptop.Secrecy{})
	if err != nil {
		return process.Result{}, err
	}
	sb, err := c.Raise(ctx, w.World, around)
	if err != nil {
		return process.Result{}, err
	}
	printEvent := func(event journal.Event) {
		fmt.Fprintln(w.Stderr, "ralph:", clean.LogLine(strings.TrimSpace(view.Line(journal.Run{}, event))))
	}
	command.Env = sb.Env(slices.Concat(w.EnvironInside(sb, c.Env...), around.Needs.Env), false)
	if sb == nil {
		return w.Runner.Run(ctx, command)
	}
	for _, note := range sb.Notices() {
		printEvent(note)
	}
	result, err := c.inBox(ctx, w, tool, sb, command)
	sb.Flush(printEvent)
	return result, errors.Join(err, sb.Close())
}

func (c sandboxCommand) inBox(
	ctx context.Context,
	w world,
	tool git.Git,
	sb *confine.Sandbox,
	command process.Command,
) (process.Result, error) {
	room, remove, err := w.Room(command.Dir, "sandbox")
	if err != nil {
		return process.Result{}, err
	}
	defer remove()
	box, err := job.OpenBox(ctx, tool, sb, command.Dir, room)
	if err != nil {
		return process.Result{}, err
	}
	command.Dir = box.Folder
	result, err := sb.Around(box.Access)(ctx, command)
	if err != nil || c.Silent {
		return result, err
	}
	ctx = context.WithoutCancel(ctx)
	changed, err := box.Changed(ctx)
	if err != nil || len(changed) == 0 {
		return result, err
	}
	if !c.Deliver {
		names := clean.LogLine(journal.ShortList(changed))
		fmt.Fprintf(w.Stderr, "ralph: the command changed files in its box, and not here: %s\n", names)
		fmt.Fprintln(w.Stderr, "ralph: hint: --deliver applies them")
		return result, nil
	}
	brought, err := box.Bring(ctx, changed)
	for _, left := range brought.Left {
		fmt.Fprintf(w.Stderr, "ralph: not delivered: %s: %s\n", clean.LogLine(left.Path), clean.LogLine(left.Why))
	}
	return result, err
}

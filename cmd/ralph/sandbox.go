//go:build !windows

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/view"
)

type sandboxCommand struct {
	Level sandbox.Level `enum:"${levels}" placeholder:"LEVEL" default:"auto" help:"Sandbox level (default: strongest available)."`
	Allow []string      `placeholder:"HOST" help:"Host that the command may reach. Repeatable (default: all public hosts)."`
	laptop.Reach
	laptop.Passing
	Command []string `arg:"" optional:"" passthrough:"partial" help:"Command, after --."`
}

func (c sandboxCommand) run(ctx context.Context, w world) (int, error) {
	argv := behindDashes(c.Command)
	if len(argv) == 0 {
		return 0, fault.Usage("no command given", "for example: ralph sandbox -- npm test", nil)
	}
	dir, err := w.Folder(".")
	if err != nil {
		return 0, err
	}
	command := process.Command{Argv: argv, Dir: dir, Stdin: w.Stdin, Stdout: w.Stdout, Stderr: w.Stderr}
	result, err := c.confine(ctx, w, command)
	if process.CannotStart(err) && !errors.Is(err, confine.ErrNotPutBack) {
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
	needs, err := w.Needs(config.Settings{}, c.Reach, laptop.Secrecy{})
	if err != nil {
		return process.Result{}, err
	}
	sb, err := laptop.Fence{Sandbox: c.Level, Allow: c.Allow}.Raise(ctx, w.World, laptop.Enclosure{
		Project: dir, Works: []string{guarded.Around(dir)}, Needs: needs, Tool: tool,
	})
	if err != nil {
		return process.Result{}, err
	}
	tell := func(event journal.Event) {
		fmt.Fprintln(w.Stderr, "ralph:", clean.LogLine(strings.TrimSpace(view.Line(journal.Run{}, event))))
	}
	run, settle := w.Runner.Run, func(context.Context) {}
	if sb != nil {
		at, err := w.MarkAndAccess(ctx, sb, dir)
		if err != nil {
			return process.Result{}, errors.Join(err, sb.Close())
		}
		run, settle = sb.Around(at), job.NestedRepos{Git: tool, Sandbox: sb, Top: guarded.Around(dir), Access: at, Tell: tell}.Watch(ctx)
	}
	for _, note := range sb.Notices() {
		tell(note)
	}
	command.Env = sb.Env(slices.Concat(w.EnvironInside(sb, c.Env...), needs.Env), false)
	result, err := run(ctx, command)
	sb.Flush(tell)
	settle(context.WithoutCancel(ctx))
	return result, errors.Join(err, sb.Close())
}

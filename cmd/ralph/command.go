//go:build !windows

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/hook"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

// command is something ralph can do.
type command interface {
	// run does it and gives the exit code.
	run(ctx context.Context, w world) (int, error)
}

// grammar is the command line.
type grammar struct {
	Action    actionCommand     `cmd:"" help:"Do what an event of GitHub asks for: the Action's entry point."`
	Run       runCommand        `cmd:"" help:"The loop: stories of a PRD, or a prompt with guardrails."`
	Loop      loopCommand       `cmd:"" help:"A task or a specification, until checks pass."`
	Supervise superviseCommand  `cmd:"" help:"Keep a root agent process alive until it writes DONE."`
	Resume    resumeCommand     `cmd:"" help:"Go on with a run that did not complete."`
	Status    statusCommand     `cmd:"" help:"Tell where a run stands."`
	Report    reportCommand     `cmd:"" help:"Make a page of a run: what it came to, and why."`
	Init      initCommand       `cmd:"" help:"Ask for the settings; with --prd or --github, lay out files."`
	Plan      planCommand       `cmd:"" help:"Make a PRD of the text of an issue, and run nothing."`
	Checks    checksCommand     `cmd:"" help:"Tell what a run here would be judged by, and what that says now."`
	Verify    verifyCommand     `cmd:"" help:"Run the proof of a run anew, and say what differs."`
	Prove     proveCommand      `cmd:"" help:"Prove the change between two commits of a clone; no agent runs."`
	Archive   archiveCommand    `cmd:"" help:"Put a finished loop away under ralph-archive/."`
	Worktree  worktreeCommand   `cmd:"" help:"The worktrees of runs with --worktree."`
	GC        gcCommand         `cmd:"" name:"gc" help:"Remove what runs of long ago left on a repository's refs."`
	Doctor    doctorCommand     `cmd:"" help:"Tell what this machine offers, and what is missing."`
	Sandbox   sandboxCommand    `cmd:"" help:"Run any command inside, as an agent would be."`
	Hook      hookCommand       `cmd:"" help:"Answer a hook of an agent's own: reads JSON, answers on standard output."`
	Demo      demoCommand       `cmd:"" help:"Turn an issue into a pull request, offline, on this machine, in seconds."`
	Serve     serveCommand      `cmd:"" help:"Take a GitHub App's deliveries, and have GitHub Actions do the work."`
	Version   versionCommand    `cmd:"" help:"Print the version."`
	Complete  completionCommand `cmd:"" name:"completion" help:"Print a script by which a shell completes ralph's words."`
	Script    scriptedCommand   `cmd:"" name:"scripted-agent" hidden:"" help:"Play a script as an agent would."`
	IsVersion kong.VersionFlag  `name:"version" short:"v" help:"Print the version."`
}

const description = `An issue goes in, a pull request comes out whose checks passed on a clean checkout.

Example: ralph demo`

// usually says when a run by a preset gives up.
func usually(preset policy.Preset) string {
	limits := policy.Of(preset).Limits
	return fmt.Sprintf("Unless flags or settings say otherwise it gives up after %d iterations, %g dollars,\n%s, or %d iterations that look alike.",
		limits.Iterations, limits.CostUSD, limits.Run, limits.Stall)
}

// parse reads the command line; done says that there is nothing more to do,
// as after --help.
func parse(w world) (chosen command, done bool, err error) {
	if asked, is := hooked(w.args); is {
		return asked, false, nil
	}
	quit := false
	parser, err := kong.New(needed(w.args),
		kong.Name("ralph"),
		kong.Description(description),
		kong.Vars{
			"agents": strings.Join(agent.Names(), ", "), "version": "ralph " + version,
			"hooks": strings.Join(append(hook.Names(), loopStart, loopCancel), ","), "events": strings.Join(append(hook.Names(), loopStart, loopCancel), ", "),
			"response": policy.Of(policy.Guardrails).Word, "tag": policy.Of(policy.Checked).Word,
			"levels": strings.Join(sandbox.Names(), ", "),
		},
		kong.NamedMapper(anyLevel, levels{docker: true}), kong.NamedMapper(ownLevel, levels{}),
		kong.UsageOnError(),
		kong.Writers(w.Stdout, w.Stderr),
		kong.Exit(func(int) { quit = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
	)
	if err == nil {
		err = refuseBlank(parser.Model)
	}
	if err != nil {
		return nil, true, fmt.Errorf("build the command line: %w", err)
	}
	args := w.args
	if completes(args) {
		return completed{args[1], parser.Model.Node, args[3:]}, false, nil
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	switch {
	case quit:
		return nil, true, nil
	case err != nil:
		return nil, true, misused(err)
	}
	chosen, is := reflect.TypeAssert[command](parsed.Selected().Target.Addr())
	if !is {
		return nil, true, errors.New("a command without a body: " + parsed.Command())
	}
	return chosen, false, nil
}

// needed is the grammar, or as much of it as args can be of: to build the whole
// takes longer than all else that the program does before it begins.
func needed(args []string) any {
	if len(args) == 0 || completes(args) {
		return new(grammar)
	}
	var parts []reflect.StructField
	known := false
	for field := range reflect.TypeFor[grammar]().Fields() {
		_, is := field.Tag.Lookup("cmd")
		named := is && args[0] == cmp.Or(field.Tag.Get("name"), strings.ToLower(field.Name))
		if !is || named {
			parts = append(parts, field)
		}
		known = known || named
	}
	if !known {
		return new(grammar)
	}
	return reflect.New(reflect.StructOf(parts)).Interface()
}

type versionCommand struct{}

// Help gives the example.
func (versionCommand) Help() string { return "Example: ralph version" }

func (versionCommand) run(_ context.Context, w world) (int, error) {
	_, err := fmt.Fprintln(w.Stdout, "ralph", version)
	return fault.ExitDone, err
}

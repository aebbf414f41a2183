package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/policy"
)

// command is something ralph can do.
type command interface {
	// run does it and gives the exit code.
	run(ctx context.Context, w world) (int, error)
	// guarded tells whether it starts agents, which must not outlive it.
	guarded() bool
}

// grammar is the command line.
type grammar struct {
	Action    actionCommand    `cmd:"" help:"Do what an event of GitHub asks for: the Action's entry point."`
	Run       runCommand       `cmd:"" help:"The loop: stories of a PRD, or a prompt with guardrails."`
	Loop      loopCommand      `cmd:"" help:"A task or a specification, until checks pass."`
	Supervise superviseCommand `cmd:"" help:"Keep a root agent process alive until it writes DONE."`
	Resume    resumeCommand    `cmd:"" help:"Go on with a run that did not complete."`
	Status    statusCommand    `cmd:"" help:"Tell where a run stands."`
	Init      initCommand      `cmd:"" help:"Ask for the settings; with --prd or --github, lay out files."`
	Plan      planCommand      `cmd:"" help:"Make a PRD of the text of an issue, and run nothing."`
	Archive   archiveCommand   `cmd:"" help:"Put a finished loop away under ralph-archive/."`
	Demo      demoCommand      `cmd:"" help:"Turn an issue into a pull request, offline, on this machine, in seconds."`
	Version   versionCommand   `cmd:"" help:"Print the version."`
	Script    scriptedCommand  `cmd:"" name:"scripted-agent" hidden:"" help:"Play a script as an agent would."`
}

const description = `An issue goes in, a pull request comes out whose checks passed on a clean checkout.

Example: ralph demo`

// parse reads the command line; done says that there is nothing more to do,
// as after --help.
func parse(w world) (chosen command, done bool, err error) {
	var g grammar
	quit := false
	limits := policy.Of(policy.Stories).Limits
	parser, err := kong.New(&g,
		kong.Name("ralph"),
		kong.Description(description),
		kong.Vars{
			"agents": strings.Join(agent.Names(), ", "), "iterations": strconv.Itoa(limits.Iterations),
			"cost": fmt.Sprint(limits.CostUSD), "time": limits.Run.String(),
		},
		kong.UsageOnError(),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(func(int) { quit = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
	)
	if err != nil {
		return nil, true, fmt.Errorf("build the command line: %w", err)
	}
	args := w.args
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

// misused makes a fault of what kong has to say.
func misused(err error) error {
	what := err.Error()
	fix := "see ralph --help"
	if wrong, is := errors.AsType[*kong.ParseError](err); is && wrong.Context != nil && wrong.Context.Selected() != nil {
		fix = "see ralph " + wrong.Context.Selected().Path() + " --help"
	}
	return fault.Usage(strings.TrimSpace(what), fix, nil)
}

// complain prints an error as every command does: what, then what to try.
func complain(to io.Writer, err error) {
	first, more, _ := strings.Cut(err.Error(), "\n")
	fmt.Fprintf(to, "ralph: %s\n", first)
	for line := range strings.Lines(more) {
		fmt.Fprintf(to, "ralph:   %s\n", strings.TrimSpace(line))
	}
	if hint := fault.Hint(err); hint != "" {
		fmt.Fprintf(to, "ralph: hint: %s\n", hint)
	}
}

type versionCommand struct{}

// Help gives the example.
func (versionCommand) Help() string { return "Example: ralph version" }

func (versionCommand) guarded() bool { return false }

func (versionCommand) run(_ context.Context, w world) (int, error) {
	_, err := fmt.Fprintln(w.stdout, "ralph", version)
	return fault.ExitDone, err
}

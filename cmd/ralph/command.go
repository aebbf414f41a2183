//go:build !windows

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/hook"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/templates"
)

type command interface {
	run(ctx context.Context, w world) (int, error)
}

// chosen is the command that was typed.
type chosen struct {
	command
	drains bool   // after a first signal, its current step may end
	again  string // hint how to continue or start it again after a signal
}

type grammar struct {
	Demo      demoCommand       `cmd:"" group:"start" help:"Watch an issue become a pull request, offline, in seconds."`
	Init      initCommand       `cmd:"" group:"start" help:"Set up a project: settings, a PRD, or the GitHub workflow."`
	Doctor    doctorCommand     `cmd:"" group:"start" help:"Show what ralph finds on this machine, and what is missing."`
	Run       runCommand        `cmd:"" group:"work" stray:"give the prompt with -p: ralph run -p \"Make the tests pass. Answer <response>DONE</response>.\"" help:"Work on the stories of a PRD, or repeat a prompt until all checks pass."`
	Loop      loopCommand       `cmd:"" group:"work" help:"Repeat a task until its checks pass."`
	Resume    resumeCommand     `cmd:"" group:"work" help:"Continue a run that stopped or was killed."`
	Status    statusCommand     `cmd:"" group:"work" help:"Show the state of a run."`
	Report    reportCommand     `cmd:"" group:"work" help:"Write a report of a run."`
	Undo      undoCommand       `cmd:"" group:"work" help:"Take back what a run delivered into this folder."`
	Plan      planCommand       `cmd:"" group:"work" help:"Turn the text of an issue into a PRD."`
	Prove     proveCommand      `cmd:"" group:"verify" help:"Prove the change between two commits, without an agent."`
	Eval      evalCommand       `cmd:"" group:"verify" help:"Try an agent on commits that a repository already has."`
	Serve     serveCommand      `cmd:"" group:"server" help:"Run the webhook server of a GitHub App."`
	Stats     statsCommand      `cmd:"" group:"server" help:"Show what became of ralph's pull requests, and what they cost."`
	GC        gcCommand         `cmd:"" group:"server" name:"gc" help:"Delete what old runs left on this machine and on GitHub."`
	Supervise superviseCommand  `cmd:"" again:"start it again: ralph supervise -- COMMAND" group:"more" help:"Restart your own agent until it writes DONE."`
	Sandbox   sandboxCommand    `cmd:"" group:"more" help:"Run any command in the sandbox."`
	Archive   archiveCommand    `cmd:"" group:"more" help:"Move a finished loop to ralph-archive/."`
	Complete  completionCommand `cmd:"" group:"more" name:"completion" help:"Print a shell completion script."`
	Action    actionCommand     `cmd:"" again:"continue by handling the same event again; finished work is kept" group:"all" help:"Handle a GitHub event (entry point of the Action)."`
	Hook      hookCommand       `cmd:"" group:"all" help:"Answer a hook of a coding agent (JSON on standard input)."`
	Script    scriptedCommand   `cmd:"" name:"scripted-agent" hidden:"" help:"Play a scripted agent."`
	IsVersion kong.VersionFlag  `name:"version" short:"v" help:"Print the version."`
}

// groups are the groups of commands. Of the last one, only --help --all shows commands and flags.
var groups = []kong.Group{
	{Key: "start", Title: "Start:"},
	{Key: "work", Title: "Work:"},
	{Key: "verify", Title: "Verify:"},
	{Key: "server", Title: "Server:"},
	{Key: "more", Title: "More:"},
	{Key: "all", Title: "With --all:"},
}

// helpPrinter prints the help of a command, with its text from templates/help if there is one.
func helpPrinter(all bool) kong.HelpPrinter {
	return func(options kong.HelpOptions, ctx *kong.Context) error {
		node := cmp.Or(ctx.Selected(), ctx.Model.Node)
		name := "help/" + strings.ReplaceAll(node.Path(), " ", "-") + ".txt"
		text, err := templates.Files.ReadFile(name)
		if err == nil {
			node.Detail = strings.ReplaceAll(strings.TrimSpace(string(text)), "{limits}", defaultLimits(node.Name))
		}
		shortened := !all && hideRest(node)
		err = kong.DefaultHelpPrinter(options, ctx)
		if shortened && err == nil {
			_, err = fmt.Fprintf(ctx.Stdout, "\nRun \"%s --help --all\" for the rest.\n", node.FullPath())
		}
		return err
	}
}

// hideRest hides what only --help --all shows, and reports whether it hid something.
func hideRest(node *kong.Node) bool {
	found := false
	hide := func(group *kong.Group, hidden *bool) {
		if group != nil && group.Key == "all" {
			*hidden = true
			found = true
		}
	}
	for _, flag := range node.Flags {
		hide(flag.Group, &flag.Hidden)
	}
	for _, child := range node.Children {
		hide(child.Group, &child.Hidden)
	}
	return found
}

func defaultLimits(command string) string {
	presets := map[string]policy.Done{"run": policy.ByStories, "loop": policy.ByTag}
	limits := policy.ForPreset(presets[command]).Limits
	return fmt.Sprintf("Default limits: %d iterations, %g dollars, %s, %d iterations without a change.",
		limits.Iterations, limits.CostUSD, limits.Run, limits.Stall)
}

// parse returns the command that was typed. It returns done after --help and --version, which leave nothing to do.
func parse(w world) (typed chosen, done bool, err error) {
	if asked, ok := readHook(w.args); ok {
		return chosen{command: asked}, false, nil
	}
	args, all := readHelp(w.args)
	parser, err := newParser(w, all, &done)
	if err != nil {
		return typed, true, fmt.Errorf("build the command line: %w", err)
	}
	if isCompletion(args) {
		return chosen{command: completed{args[1], parser.Model.Node, args[3:]}}, false, nil
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if done {
		return typed, true, nil
	}
	if err != nil {
		return typed, true, explainMisuse(err, args)
	}
	typed, err = chosenFrom(parsed)
	return typed, err != nil, err
}

// newParser returns the command line's parser. It sets done when the parser has printed help or the version.
func newParser(w world, all bool, done *bool) (*kong.Kong, error) {
	events := append(hook.Names(), loopStart, loopCancel)
	parser, err := kong.New(new(grammar),
		kong.Name("ralph"),
		kong.Description(strings.TrimSpace(templates.Text("help/ralph.txt"))),
		kong.Vars{
			"agents":   strings.Join(agent.Names(), ", "),
			"version":  "ralph " + version,
			"hooks":    strings.Join(events, ","),
			"events":   strings.Join(events, ", "),
			"response": policy.ForPreset(policy.ByResponse).Word,
			"tag":      policy.ForPreset(policy.ByTag).Word,
			"levels":   strings.Join(sandbox.Names(), ", "),
		},
		kong.NamedMapper("level", levels{}),
		kong.NamedMapper("folder", folders{w.World}),
		kong.UsageOnError(),
		kong.Writers(w.Stdout, w.Stderr),
		kong.Exit(func(int) { *done = true }),
		kong.ExplicitGroups(groups),
		kong.Help(helpPrinter(all)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 80}),
	)
	if err != nil {
		return nil, err
	}
	parser.Model.HelpFlag.Help = "Print help."
	return parser, refuseBlankValues(parser.Model)
}

func chosenFrom(parsed *kong.Context) (chosen, error) {
	node := parsed.Selected()
	body, ok := reflect.TypeAssert[command](node.Target.Addr())
	if !ok {
		return chosen{}, errors.New("a command without a body: " + parsed.Command())
	}
	again := cmp.Or(node.Tag.Get("again"), "start it again")
	run, drains := body.(interface {
		Continuation(id string) journal.Resume
	})
	if drains {
		again = "continue: " + run.Continuation("").Command() + "; finished work is kept"
	}
	return chosen{command: body, drains: drains, again: again}, nil
}

// readHelp turns "help COMMAND" into "COMMAND --help", and takes --all out of it.
func readHelp(args []string) (rest []string, all bool) {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	all = slices.Contains(args, "--all")
	isHelp := slices.Contains(args, "--help") || slices.Contains(args, "-h")
	hasOtherCommand := slices.Contains(args, "--") // whose flags are not ralph's
	if !all || !isHelp || hasOtherCommand {
		return args, false
	}
	return slices.DeleteFunc(slices.Clone(args), func(word string) bool { return word == "--all" }), true
}

// show prints a result as text for people, or as JSON for scripts.
func (w world) show(asJSON bool, result any, text string) error {
	if asJSON {
		return clean.JSON(w.Stdout, result)
	}
	_, err := io.WriteString(w.Stdout, text)
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// rescue is how long saving the work may take after Ctrl-C.
const rescue = 30 * time.Second

// local are the flags of every loop on a laptop.
type local struct {
	ProjectDir       string           `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	Agent            string           `placeholder:"NAME" help:"The agent: ${agents}; the settings' own when not given."`
	AgentCommand     string           `placeholder:"CMD" help:"The program to run in the place of the agent's own."`
	Model            string           `placeholder:"MODEL" help:"The model, as the agent calls it."`
	MaxCost          *float64         `placeholder:"USD" help:"Give up when this many dollars are spent; 0: never."`
	MaxTokens        *int64           `placeholder:"N" help:"Give up when this many tokens are used, cached or not; 0: never."`
	MaxTime          *policy.Duration `placeholder:"TIME" help:"Give up after this long, as 90, 90s or 2h; 0: never."`
	StallAfter       *int             `placeholder:"N" help:"Give up after this many iterations that look alike; 0: never."`
	IterationTimeout *policy.Duration `placeholder:"TIME" help:"End an agent that takes longer; 0: never."`
	IdleTimeout      *policy.Duration `placeholder:"TIME" help:"End an agent that prints nothing for so long; 0: never."`
	Worktree         bool             `help:"Work in a tree apart and leave the work on a branch."`
	Sandbox          level            `xor:"sandbox" placeholder:"LEVEL" help:"Confine the agent and the checks: --sandbox takes the strongest level there is, --sandbox=LEVEL that one: namespace, notify, landlock, none, or docker for Claude Code in a Docker sandbox. Refuses where it does not hold."`
	NoSandbox        bool             `xor:"sandbox" help:"Run with nothing that confines the agent, whatever the settings say."`
	Notify           string           `placeholder:"CMD" help:"Run this shell command when the run has ended, with the result on its stdin."`
	JSON             bool             `name:"json" help:"Print the result as one JSON object."`
	DryRun           bool             `help:"Print the policy, the agent's command and the prompt, and run nothing."`
	Verbose          bool             `short:"V" help:"Say what is read, run and decided, with times."`
}

// person is who runs us, as git knows them.
func (w world) person() git.Person {
	return git.Person{Home: w.env("HOME"), ConfigHome: w.env("XDG_CONFIG_HOME")}
}

// git is the user's git, with an empty folder for a home; done removes that.
func (w world) git() (tool git.Git, done func(), err error) {
	home, err := os.MkdirTemp("", "ralph-home-")
	if err != nil {
		return tool, nil, fault.Usage("cannot write to the temporary folder", "set TMPDIR to one that is writable", err)
	}
	tool = git.Git{Run: w.runner.Run, Path: w.env("PATH"), Home: home, User: w.person()}
	return tool, func() { _ = os.RemoveAll(home) }, nil
}

// soundGit is git for a command that is nothing without it.
func (w world) soundGit(ctx context.Context) (tool git.Git, done func(), err error) {
	if tool, done, err = w.git(); err != nil {
		return tool, nil, err
	}
	if _, err = tool.Version(ctx); err != nil {
		done()
	}
	return tool, done, err
}

// desk is a project on a laptop, looked at for a run.
type desk struct {
	local
	w        world
	tool     git.Git
	place    *git.Place    // nil where the project is no repository
	found    []config.File // the project's settings
	settings config.Settings
	stream   *bool
	quiet    bool             // nothing but the result
	secrets  *redact.Redactor // hides the agent's keys
	console  *console
	docker   *agent.Docker // nil: none
}

// open looks at the project: its settings, and its repository where it is one.
// done gives back what was borrowed for that.
func (l local) open(ctx context.Context, w world) (d *desk, done func(), err error) {
	tool, done, err := w.git()
	if err != nil {
		return nil, nil, err
	}
	d = &desk{local: l, w: w, tool: tool}
	d.console = newConsole(w, d)
	if err = d.look(ctx); err != nil {
		done()
		return nil, nil, err
	}
	return d, done, nil
}

func (d *desk) look(ctx context.Context) error {
	err := workspace.Stands(d.ProjectDir, "-d")
	if err != nil {
		return err
	}
	if d.found, err = d.files(); err != nil {
		return err
	}
	if d.settings, err = config.ReadSettings(d.found...); err != nil {
		return err
	}
	level, err := d.wanted(d)
	if err != nil {
		return err
	}
	if level == inDocker {
		if err := d.dock(); err != nil {
			return err
		}
	}
	if err := d.merged(); err != nil {
		return err
	}
	place, err := d.tool.Inspect(ctx, d.ProjectDir)
	if err == nil {
		d.place = &place
	}
	if d.DryRun {
		return nil
	}
	return workspace.Folder{Path: d.folder()}.Free()
}

// repository is for the loops that need one, and fit to begin from.
func (d *desk) repository(ctx context.Context) error {
	place, err := repositoryAt(ctx, d.tool, d.ProjectDir)
	d.place = &place
	left, is := errors.AsType[*fault.Fault](err)
	if _, half := (workspace.Folder{Path: d.folder()}).Newest(open); is && half && len(place.Dirty) > 0 {
		left.Fix += ", or go on with the run that may have left them: ralph resume"
	}
	return err
}

// repositoryAt is the repository that dir lies in, with nothing uncommitted.
func repositoryAt(ctx context.Context, tool git.Git, dir string) (git.Place, error) {
	if _, err := tool.Version(ctx); err != nil {
		return git.Place{}, err
	}
	place, err := tool.Inspect(ctx, dir)
	if err != nil {
		return git.Place{}, err
	}
	return place, place.Clean()
}

// files are the settings files that there are, the base before the local one.
func (d *desk) files() ([]config.File, error) {
	if err := (workspace.Folder{Path: filepath.Join(d.ProjectDir, ".ralph")}).Sound(); err != nil {
		return nil, err
	}
	var files []config.File
	for _, name := range []string{"settings.json", "settings.local.json"} {
		shown := filepath.Join(".ralph", name)
		data, err := workspace.ReadPlain(filepath.Join(d.ProjectDir, shown))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fault.Usage("cannot read "+shown, "make it readable, or remove it", err)
		}
		d.tell("Loading settings from %s", filepath.ToSlash(shown))
		files = append(files, config.File{Name: filepath.ToSlash(shown), Data: data})
	}
	return files, nil
}

// tell prints what -V is for.
func (d *desk) tell(format string, args ...any) {
	if d.Verbose {
		fmt.Fprintf(d.w.stderr, "[ralph] "+format+"\n", args...)
	}
}

// line prints a line of news.
func (d *desk) line(text string) { d.console.line(text) }

// watch shows what the agent says and does, unless that is not wanted.
func (d *desk) watch() func(stream.Item) {
	shown := d.settings.StreamAgentOutput
	if d.stream != nil {
		shown = *d.stream
	}
	if !shown || d.quiet {
		return nil
	}
	return d.console.item
}

// over lays the flags that every loop has over a policy.
func (d *desk) over(p policy.Policy) policy.Policy {
	p.Model = first(d.Model, p.Model)
	p.Protect = append(policy.Protected(), p.Protect...)
	p.Limits = d.limits(p.Limits)
	p.Within = d.within()
	if d.Worktree {
		stories := p.Done == policy.ByStories
		p.Apart, p.Publish, p.NoPull = true, stories, stories
	}
	return p
}

// within is where the project lies in its repository; empty: at its top.
func (d *desk) within() string {
	if d.place == nil {
		return ""
	}
	way, err := inside(d.place.Top, d.ProjectDir)
	if err != nil || way == "." {
		return ""
	}
	return filepath.ToSlash(way)
}

// limits lays the flags that are limits over those in force.
func (l local) limits(p policy.Limits) policy.Limits {
	p.CostUSD = given(l.MaxCost, p.CostUSD)
	p.Tokens = given(l.MaxTokens, p.Tokens)
	p.Run = given(l.MaxTime, p.Run)
	p.Iteration = given(l.IterationTimeout, p.Iteration)
	p.Idle = given(l.IdleTimeout, p.Idle)
	p.Stall = given(l.StallAfter, p.Stall)
	return p
}

// given is what a flag says, else what was so before.
func given[T any](flag *T, otherwise T) T {
	if flag != nil {
		return *flag
	}
	return otherwise
}

func first(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

// adapter is the agent that the flags or the settings name.
func (d *desk) adapter() (agent.Adapter, agent.Options, error) {
	name, options, err := d.options()
	if err != nil {
		return agent.Adapter{}, options, err
	}
	d.secrets = redact.New(options.Keys.Secrets()...)
	adapter, err := agent.Pick(name, options)
	return adapter, options, err
}

// options are what the flags and the settings say of the agent.
func (d *desk) options() (name string, options agent.Options, err error) {
	options, err = d.settings.Agent.Options()
	if err != nil {
		return "", options, err
	}
	options.Command = first(d.AgentCommand, options.Command)
	if d.Agent != "" && d.AgentCommand == "" {
		options.Command = ""
	}
	options.Keys = agent.KeysFrom(d.w.env, d.Agent, options.Command)
	if options.Self, err = executable(); err != nil {
		return "", options, err
	}
	options.Hooks, options.Docker = true, d.docker
	if d.Agent == "scripted" {
		options.Script, options.Command = d.AgentCommand, ""
	}
	return agent.Named(d.Agent, options.Command), options, nil
}

package laptop

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// Fence are the flags of commands that run others' code without an agent.
type Fence struct {
	Sandbox   sandbox.Level `type:"level" xor:"sandbox" placeholder:"LEVEL" help:"Sandbox level: ${levels} (--sandbox alone: strongest available). Fails if this machine cannot provide it."`
	NoSandbox bool          `xor:"sandbox" help:"Run without a sandbox."`
	Allow     []string      `group:"all" placeholder:"HOST" help:"Host that can be reached from the sandbox. Repeatable (default: those of the settings, else all public hosts)."`
}

// Passing are variables that are passed by name, where no settings do.
type Passing struct {
	Env []string `placeholder:"NAME" help:"Environment variable to pass into the sandbox, in addition to those of toolchains. Repeatable."`
}

// EnvironInside returns the user's environment in a sandbox, and prints which variables of toolchains stay outside;
// without a sandbox, all that is not known to be secret.
func (w World) EnvironInside(sb *confine.Sandbox, more ...string) []string {
	if sb == nil {
		return environ.Harmless(w.Environ())
	}
	if names := environ.LeftOut(w.Environ(), more...); len(names) > 0 {
		fmt.Fprintln(w.Stderr, "ralph: note: not passed into the sandbox, because the value seems to contain a login:",
			clean.LogLine(journal.ShortList(names)))
		fmt.Fprintln(w.Stderr,
			"ralph: hint: to pass it all the same, name it in sandbox.env of the settings, or with --env")
	}
	return environ.Plain(w.Environ(), more...)
}

// Enclosure is what a sandbox surrounds.
type Enclosure struct {
	Level   sandbox.Level // empty: none
	Project string
	Allow   []string // where no flag says which; nil: every public host
	Needs   confine.Needs
	Vars    []string // to pass into it, for WithVerifier
	Proofs  bool     // of others' work: no program of the project is used
}

// Around returns the sandbox that the flags, the project's settings or the environment name, or else the strongest
// available. Only a flag turns it off: settings may have come with the change that is to be proven. Of hosts they can
// only take away. Docker's sandbox is for the agent of a run: a project that names it has the strongest here, too.
func (f Fence) Around(w World, project string) (Enclosure, error) {
	if f.NoSandbox {
		return Enclosure{Level: sandbox.None, Project: project}, nil
	}
	e := Enclosure{Level: f.Sandbox, Project: project, Allow: f.Allow}
	files, err := config.ProjectFiles(project, workspace.ReadSettings)
	if err != nil {
		return e, err
	}
	settings, err := config.ReadSettings(files...)
	if err != nil {
		return e, err
	}
	if e.Allow == nil {
		e.Allow = settings.Sandbox.AllowDomains
	}
	if e.Level != "" {
		return e, nil
	}
	e.Level, err = w.namedLevel("", settings)
	if e.Level == "" || e.Level == sandbox.None || e.Level == InDocker {
		e.Level = sandbox.Auto
	}
	return e, err
}

// ErrInDocker refuses Docker's sandbox for what is not an agent.
var ErrInDocker = fault.Usage("Docker sandboxes are for agents alone",
	"give --sandbox without a level on Linux, or --no-sandbox", nil)

// Raise starts the sandbox; nil: there is none.
func (f Fence) Raise(ctx context.Context, w World, e Enclosure) (*confine.Sandbox, error) {
	if e.Level == "" || e.Level == sandbox.None {
		services := confine.Needs{Services: e.Needs.Services}
		return confine.Start(ctx, confine.Options{Level: sandbox.None, Needs: services})
	}
	if e.Level == InDocker {
		return nil, ErrInDocker
	}
	if f.Allow != nil {
		e.Allow = f.Allow
	}
	options, err := w.sandboxAround(e)
	if err != nil {
		return nil, err
	}
	options.Level = e.Level
	return confine.Start(ctx, options)
}

// sandboxAround returns the options of every sandbox around a project.
func (w World) sandboxAround(e Enclosure) (confine.Options, error) {
	home, err := w.homeBeside(e.Project)
	if err != nil {
		return confine.Options{}, err
	}
	top := []string{guarded.Around(e.Project)}
	return confine.Options{
		Self:          w.Self,
		Exec:          w.Runner.Run,
		Temp:          w.Temp(e.Project),
		Env:           w.In(e.Project).Environ(),
		Home:          home,
		Path:          w.Path(e.Project),
		Network:       confine.Network{Any: e.Allow == nil, Allow: e.Allow},
		Needs:         e.Needs,
		Private:       top,
		NoProgramDirs: top,
		Proofs:        e.Proofs,
	}, nil
}

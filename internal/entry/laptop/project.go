// Package laptop is the entry for a person at a terminal. It reads the settings of a project, finds its repository and
// its runs, sets up the sandbox, executes a run and shows its progress.
package laptop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// Project is a project on a laptop, looked at for a run.
type Project struct {
	Flags
	World    World
	Tool     git.Git
	Place    *git.Place    // nil where the project is no repository
	Work     *git.Place    // where the branch of the run is checked out: Place, or a linked worktree
	noPlace  error         // why it is nil
	found    []config.File // the project's settings
	Settings config.Settings
	Needs    confine.Needs    // of the checks
	Default  agent.Default    // chosen where nothing names an agent
	Stream   *bool            // unset: as the settings say
	Quiet    bool             // nothing but the result
	secrets  *redact.Redactor // hides the agent's keys
	console  *console
}

// environOutside returns the environment of programs that ralph starts outside of the sandbox.
func (d *Project) environOutside() []string {
	return append(d.World.Environ(), "PATH="+d.Tool.Path)
}

// Open reads the project's settings, and its repository if there is one.
func (l Flags) Open(ctx context.Context, w World) (*Project, error) {
	w = w.In(l.ProjectDir)
	tool, err := w.Git(l.ProjectDir)
	if err != nil {
		return nil, err
	}
	d := &Project{Flags: l, World: w, Tool: tool, secrets: redact.New()}
	d.console = newConsole(w, d)
	return d, d.read(ctx)
}

func (d *Project) read(ctx context.Context) error {
	err := workspace.CheckDir(d.ProjectDir, "-d")
	if err != nil {
		return err
	}
	place, err := d.Tool.Inspect(ctx, d.ProjectDir)
	d.noPlace = err
	if err == nil {
		d.Place = &place
		d.Work = &place
	}
	if d.found, err = d.files(); err != nil {
		return err
	}
	if d.Settings, err = config.ReadSettings(d.found...); err != nil {
		return err
	}
	if d.Needs, err = d.World.Needs(d.Settings, d.Reach, d.Secrecy); err != nil {
		return err
	}
	if err := d.checkSandbox(); err != nil {
		return err
	}
	if d.DryRun {
		return nil
	}
	return workspace.Folder{Path: d.folder()}.CheckUnlocked()
}

// KeepLevel uses the run's sandbox level, unless a flag names another.
func (d *Project) KeepLevel(level string) error {
	switch {
	case d.NoSandbox, d.Sandbox != "", level == "":
		return nil
	case level == string(sandbox.None):
		d.NoSandbox = true
		return nil
	}
	d.Sandbox = sandbox.Level(level)
	_, err := d.Wanted()
	return err
}

// checkSandbox refuses what the settings say of the sandbox, if it cannot be, and logs all settings.
func (d *Project) checkSandbox() error {
	if _, err := d.Wanted(); err != nil {
		return err
	}
	return d.logSettings()
}

// CheckNotHome refuses the user's home as the project, or as its repository.
func (d *Project) CheckNotHome() error {
	home := d.World.Getenv("HOME")
	if err := workspace.CheckNotHome(d.ProjectDir, home); err != nil {
		return err
	}
	return workspace.CheckNotHome(d.Root(), home)
}

// Repository refuses a project without a repository, or with changes, for the loops that need a clean one. What an
// unfinished run in a box wrote there at its end is no change of the user.
func (d *Project) Repository(ctx context.Context) error {
	if _, err := d.Tool.Version(ctx); err != nil {
		return err
	}
	if d.Place == nil {
		return d.noPlace
	}
	place := *d.Place
	if last := d.unfinishedOnBranch(); last.Policy.Boxed {
		place = place.Without(job.LoopFiles(last.Policy)...)
	}
	err := place.Clean()
	unclean, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		return err
	}
	folder := workspace.Folder{Path: d.folder()}
	unfinished, _ := folder.Newest(func(run journal.Run) bool { return !run.IsCompleted() })
	if unfinished.ID != "" {
		unclean.Fix += ", or continue the run that may have left them: " + d.Continuation("").Command()
	}
	return err
}

// files returns the project's settings, and logs the files.
func (d *Project) files() ([]config.File, error) {
	if err := (workspace.Folder{Path: filepath.Join(d.ProjectDir, ".ralph")}).CheckPath(); err != nil {
		return nil, err
	}
	files, err := config.ProjectFiles(d.ProjectDir, workspace.ReadSettings)
	for _, file := range files {
		d.logf("Loading settings from %s", file.Name)
	}
	return files, err
}

// Configured returns the project's settings under those of the file of --config.
func (d *Project) Configured(name string) (config.Loop, error) {
	if name == "" {
		return config.Loop{Settings: d.Settings}, nil
	}
	data, err := workspace.ReadFile(name)
	if err != nil {
		return config.Loop{}, fault.Usage("cannot read "+name, "name another with --config; "+
			"the completion word is --completion-response of ralph run, --completion-tag of ralph loop", err)
	}
	d.logf("Loading settings from %s", name)
	file := config.File{Name: name, Data: data}
	loop, err := config.ReadLoop(file, d.found...)
	if err != nil {
		return loop, err
	}
	d.Settings = loop.Settings
	d.Agent = cmp.Or(d.Agent, loop.Agent)
	return loop, d.checkSandbox()
}

func (d *Project) logf(format string, args ...any) {
	if d.Verbose {
		fmt.Fprintf(d.World.Stderr, "[ralph] "+format+"\n", args...)
	}
}

func (d *Project) line(text string) { d.console.line(text) }

// itemPrinter shows what the agent says and does, unless that is not wanted.
func (d *Project) itemPrinter() func(stream.Item) {
	if d.Quiet || !policy.Given(d.Stream, d.Settings.StreamAgentOutput) {
		return nil
	}
	return d.console.item
}

// WithFlags lays the flags that every loop has over a policy.
func (d *Project) WithFlags(p policy.Policy) policy.Policy {
	p.Model = cmp.Or(d.Model, p.Model)
	p.Protect = append(policy.ProtectedFiles(), p.Protect...)
	p.Limits = d.Limited(p.Limits)
	p.Subfolder = d.Within()
	p.Worktree = d.Worktree
	return p
}

// Within returns where the project lies in its repository; empty: at its top.
func (d *Project) Within() string {
	if d.Place == nil {
		return ""
	}
	path, err := filepath.Rel(d.Place.Top, d.ProjectDir) // both without links
	if err != nil || path == "." {
		return ""
	}
	return filepath.ToSlash(path)
}

func (d *Project) folder() string { return filepath.Join(d.Root(), ".ralph") }

// Root returns where .ralph lies: the repository's top, or the project itself.
func (d *Project) Root() string {
	if d.Place != nil {
		return d.Place.Top
	}
	return d.ProjectDir
}

// PRD returns the plan in a folder of the project, and its file; empty without one.
func (l Flags) PRD(memory string) (stories plan.Plan, file string, err error) {
	file = filepath.Join(l.ProjectDir, memory, "prd.json")
	data, err := workspace.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stories, file, nil
	case err != nil:
		return stories, file, fault.Usage("cannot read "+file, "make it a plain file that you can read", err)
	}
	if stories, err = plan.Read(file, data); err != nil {
		return stories, file, fault.Usage("the PRD cannot be used", "fix these lines of "+file, err)
	}
	return stories, file, nil
}

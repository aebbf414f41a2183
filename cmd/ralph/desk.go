package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/redact"
	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// desk is a project on a laptop, looked at for a run.
type desk struct {
	local
	w        world
	tool     git.Git
	place    *git.Place    // nil where the project is no repository
	unread   error         // what keeps git from reading the one that it is
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
	tool, done, err := w.git(l.ProjectDir)
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
	if err := d.obey(); err != nil {
		return err
	}
	place, err := d.tool.Inspect(ctx, d.ProjectDir)
	switch {
	case err == nil:
		d.place = &place
	case errors.As(err, new(*git.Unreadable)):
		d.unread = err
	}
	if d.DryRun {
		return nil
	}
	return workspace.Folder{Path: d.folder()}.Free()
}

// obey has what the settings say of the agent's confinement hold, and tells of
// all of them.
func (d *desk) obey() error {
	d.docker = nil
	level, err := d.wanted(d)
	if err == nil && level == inDocker {
		err = d.dock()
	}
	if err != nil {
		return err
	}
	return d.merged()
}

// repository is for the loops that need one, and fit to begin from.
func (d *desk) repository(ctx context.Context) error {
	place, err := repositoryAt(ctx, d.tool, d.ProjectDir)
	d.place = &place
	left, is := errors.AsType[*fault.Fault](err)
	if old, half := (workspace.Folder{Path: d.folder()}).Newest(func(run journal.Run) bool { return !run.Completed() }); is && half && len(place.Dirty) > 0 {
		left.Fix += ", or go on with the run that may have left them: " + view.Resume(old.Policy.Agent)
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

// files are the project's settings, with a word of each that is read.
func (d *desk) files() ([]config.File, error) {
	if err := (workspace.Folder{Path: filepath.Join(d.ProjectDir, ".ralph")}).Sound(); err != nil {
		return nil, err
	}
	files, err := config.Found(d.ProjectDir, workspace.ReadSettings)
	for _, file := range files {
		d.tell("Loading settings from %s", file.Name)
	}
	return files, err
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
	p.Model = cmp.Or(d.Model, p.Model)
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

// folder is the project's .ralph.
func (d *desk) folder() string { return filepath.Join(d.root(), ".ralph") }

// root is where .ralph lies: the repository's top, or the project itself.
func (d *desk) root() string {
	if d.place != nil {
		return d.place.Top
	}
	return d.ProjectDir
}

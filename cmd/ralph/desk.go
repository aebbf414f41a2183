package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// job gathers what a run by p needs, and fails before anything is spent.
func (d *desk) job(ctx context.Context, p policy.Policy) (*job.Job, error) {
	adapter, options, err := d.adapter()
	if err != nil {
		return nil, err
	}
	env := agent.LocalEnv(d.w.env, adapter.Vars...)
	path, err := (&agent.Hand{Adapter: adapter, Env: env, Dir: d.ProjectDir}).Ready()
	if err != nil {
		return nil, err
	}
	if err := d.tellAgent(adapter, path, p); err != nil {
		return nil, err
	}
	if d.docker != nil && !d.DryRun {
		if err := d.docked(ctx, path); err != nil {
			return nil, err
		}
	}
	wall, err := d.raise(ctx, adapter, path, options.Keys, p)
	if err != nil {
		return nil, err
	}
	options.Keys = wall.Keys(options.Keys)
	if adapter, err = agent.Pick(d.Agent, options); err != nil {
		d.lower(wall)
		return nil, err
	}
	for _, note := range adapter.Notes {
		d.line("note: " + note)
	}
	j := &job.Job{
		Wall:   wall,
		Folder: workspace.Folder{Path: d.folder()}, Version: version,
		Exec: d.w.runner.Run, Now: d.w.now, Git: d.tool,
		Agent: adapter, AgentEnv: env, CheckEnv: agent.Harmless(d.w.environ()), UserEnv: d.w.environ(),
		Log: d.line, Hide: d.secrets.Bytes, Veil: d.secrets.Writer, Tell: d.console.event, Watch: d.watch(), Checking: d.console.checking, Drain: d.w.drain, Hard: d.w.runner.Hard, Rescue: rescue,
	}
	if d.place == nil {
		j.Dir = d.ProjectDir
		return j, nil
	}
	j.Project = d.place.Top
	at := job.Desk{Git: d.tool, Place: *d.place}
	if p.Apart && !linked(p) {
		j.Origin, j.Hub = at, at
		return j, nil
	}
	if p.Done == policy.ByStories {
		j.Origin = at
	}
	if j.Own, err = d.tool.Own(ctx, *d.place); err != nil {
		d.lower(wall)
	}
	return j, err
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

// stand fills in where a run begins.
func (d *desk) stand(ctx context.Context, j *job.Job, asked job.Asked) (job.Asked, error) {
	if d.place == nil {
		return asked, nil
	}
	asked.BaseRef, asked.Base = d.place.Branch, d.place.Head
	if j.Own == nil {
		return asked, nil
	}
	if !linked(asked.Policy) {
		asked.Branch = d.place.Branch
	}
	if d.DryRun { // to look at the files writes them down
		return asked, nil
	}
	j.Own.Beside = job.Beside(asked.Policy)
	standing, err := j.Own.Look(ctx)
	asked.Work = standing.Work
	return asked, err
}

// begin starts the run and sees it through.
func (d *desk) begin(ctx context.Context, asked job.Asked) (int, error) {
	j, err := d.job(ctx, asked.Policy)
	if err != nil {
		return 0, err
	}
	defer d.lower(j.Wall)
	asked.Policy.Agent, asked.Level = j.Agent.Name, d.level(j.Wall)
	asked.Notes = append(asked.Notes, j.Wall.Notices()...)
	asked.ID = "run-" + d.w.now().UTC().Format("20060102T150405.000")
	if asked, err = d.stand(ctx, j, asked); err != nil {
		return 0, err
	}
	if d.DryRun {
		return d.dry(j, asked)
	}
	return d.see(ctx, j, asked.Policy, func() (job.Outcome, error) {
		asked, err := d.link(ctx, j, asked)
		if err != nil {
			return job.Outcome{}, err
		}
		return j.Start(ctx, asked)
	})
}

// see holds the project, lets the run go, and tells how it ended.
func (d *desk) see(ctx context.Context, j *job.Job, p policy.Policy, run func() (job.Outcome, error)) (int, error) {
	release, err := d.hold(ctx, j, p)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err := release(); err != nil {
			d.line(err.Error())
		}
	}()
	d.w.patience.set(p)
	d.line(d.said(j.Wall))
	if j.Agent.Guarded {
		d.line("a guard refuses what is dangerous of the commands that " + j.Agent.Name + " is about to run; it prevents accidents and contains nobody")
	}
	outcome, err := run()
	if err != nil && outcome.Run.Stop == nil { // nothing was begun, or all of it was ended at once
		return 0, errors.Join(err, d.cutOff(ctx, outcome, err))
	}
	return d.finish(ctx, outcome, err)
}

// there are those of the paths in dir at which something stands.
func there(dir string, paths []string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(path)))
		return err != nil
	})
}

// hold keeps other runs away until all is said and done. A loop over stories
// puts up .ralph-active, by which the hooks in an agent know of it.
func (d *desk) hold(ctx context.Context, j *job.Job, p policy.Policy) (release func() error, err error) {
	var active *workspace.Active
	if p.Done == policy.ByStories {
		active = &workspace.Active{
			Timestamp: d.w.now().UTC(), PID: os.Getpid(), MaxIterations: p.Limits.Iterations, Mode: d.mode(),
		}
		if d.place != nil {
			if err := d.tool.Exclude(ctx, *d.place, "/.ralph-active", "/.ralph/"); err != nil {
				return nil, err
			}
		}
	}
	j.Folder, release, err = j.Folder.Hold(active)
	return release, err
}

// settle leaves the PRD as the program believes it: a claim that was not
// believed must not be found as a fact by the next run. The log is committed
// with it, for a tree that is left dirty keeps the next run from beginning.
func (d *desk) settle(ctx context.Context, run journal.Run) error {
	if run.Policy.Done != policy.ByStories || run.Policy.Apart {
		return nil
	}
	memory := workspace.Memory{Tree: d.place.Top, Dir: run.Policy.Memory}
	if err := memory.Put(run.Plan); err != nil {
		return err
	}
	_, err := d.tool.Commit(ctx, *d.place, git.Commission{
		Paths:   there(d.place.Top, memory.Books()),
		Message: git.Message{Subject: "ralph: the stories as the checks have them", Trailers: []string{"Ralph-Run: " + run.ID}},
		Config:  filepath.Join(d.w.env("HOME"), ".gitconfig"),
	})
	return err
}

// cutOff prints the result of a run that has no end on record, for the script
// that waits for one.
func (d *desk) cutOff(ctx context.Context, outcome job.Outcome, broke error) error {
	run := outcome.Run
	if !d.JSON || run.ID == "" {
		return nil
	}
	stopped := journal.RunStopped{Reason: policy.FatalError, Why: broke.Error()}
	if ctx.Err() != nil || errors.Is(broke, process.ErrStopped) {
		stopped.Reason = policy.Cancelled
	}
	run.Stop = &stopped
	return printResult(d.w.stdout, run, outcome.Home, "")
}

// finish prints how the run ended, and gives its exit code. A run that broke
// has an error beside its reason.
func (d *desk) finish(ctx context.Context, outcome job.Outcome, broke error) (int, error) {
	run := outcome.Run
	ctx = context.WithoutCancel(ctx)
	tree, err := worktreeOf(ctx, d.tool, d.place, run)
	err = errors.Join(broke, d.settle(ctx, run), err, d.conclude(outcome, tree.Dir))
	d.notify(ctx, outcome, tree.Dir)
	code := run.Stop.Reason.Status().Exit(false)
	if err != nil && code != fault.ExitDone {
		err = &fault.Fault{What: err.Error(), Fix: hint(err), Exit: code}
	}
	return code, err
}

// conclude prints the result, and where the work is when it is elsewhere.
func (d *desk) conclude(outcome job.Outcome, worktree string) error {
	run, text := outcome.Run, ""
	switch {
	case d.JSON:
		return printResult(d.w.stdout, run, outcome.Home, worktree)
	case d.quiet:
		text = view.Text(run)
	}
	switch {
	case worktree != "":
		text += fmt.Sprintf("the work is in %s, on the branch %s\n", filepath.Base(worktree), run.Branch)
	case run.Policy.Apart && run.Head != run.Start:
		text += fmt.Sprintf("the work is on the branch %s: git diff %s...%s\n", run.Branch, run.BaseRef, run.Branch)
	}
	_, err := fmt.Fprint(d.w.stdout, d.secrets.String(text))
	return err
}

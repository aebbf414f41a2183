package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// job gathers what a run by p needs, and fails before anything is spent.
func (d *desk) job(ctx context.Context, p policy.Policy) (*job.Job, error) {
	adapter, err := d.adapter()
	if err != nil {
		return nil, err
	}
	env := agent.BaseEnv(d.w.env)
	path, err := (&agent.Hand{Adapter: adapter, Env: env, Dir: d.ProjectDir}).Ready()
	if err != nil {
		return nil, err
	}
	d.tell("Agent: %s (%s)", adapter.Name, path)
	for _, note := range adapter.Notes {
		d.line("note: " + note)
	}
	j := &job.Job{
		Folder: workspace.Folder{Path: d.folder()},
		Exec:   d.w.runner.Run, Now: d.w.now, Git: d.tool,
		Agent: adapter, AgentEnv: env, CheckEnv: agent.Harmless(d.w.environ()), UserEnv: d.w.environ(),
		Log: d.line, Hide: d.secrets.Bytes, Tell: d.console.event, Watch: d.watch(), Drain: d.w.drain, Hard: d.w.runner.Hard, Rescue: rescue,
	}
	if d.place == nil {
		j.Dir = d.ProjectDir
		return j, nil
	}
	at := job.Desk{Git: d.tool, Place: *d.place}
	if p.Apart {
		j.Origin, j.Hub = at, at
		return j, nil
	}
	if p.Done == policy.ByStories {
		j.Origin = at
	}
	j.Own, err = d.tool.Own(ctx, *d.place)
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
	asked.Branch = d.place.Branch
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
	asked.Policy.Agent, asked.Level = j.Agent.Name, "none"
	asked.ID = "run-" + d.w.now().UTC().Format("20060102T150405.000")
	if asked, err = d.stand(ctx, j, asked); err != nil {
		return 0, err
	}
	if d.DryRun {
		return d.dry(j, asked)
	}
	return d.see(ctx, asked.Policy, func() (job.Outcome, error) { return j.Start(ctx, asked) })
}

// see puts up the marker, lets the run go, and tells how it ended.
func (d *desk) see(ctx context.Context, p policy.Policy, run func() (job.Outcome, error)) (int, error) {
	unmark, err := d.mark(ctx, p)
	if err != nil {
		return 0, err
	}
	defer unmark()
	d.line(noWall)
	outcome, err := run()
	if err != nil {
		return 0, err
	}
	return d.finish(ctx, outcome)
}

// settle leaves the PRD as the program believes it: a claim that was not
// believed must not be found as a fact by the next run.
func (d *desk) settle(ctx context.Context, run journal.Run) error {
	if run.Policy.Done != policy.ByStories || run.Policy.Apart {
		return nil
	}
	memory := workspace.Memory{Tree: d.place.Top, Dir: run.Policy.Memory}
	if err := memory.Put(run.Plan); err != nil {
		return err
	}
	_, err := d.tool.Commit(ctx, *d.place, git.Commission{
		Paths:   memory.Books()[:1],
		Message: git.Message{Subject: "ralph: the stories as the checks have them", Trailers: []string{"Ralph-Run: " + run.ID}},
		Config:  filepath.Join(d.w.env("HOME"), ".gitconfig"),
	})
	return err
}

// mark puts up .ralph-active for a loop over stories, by which the hooks in an
// agent know of it.
func (d *desk) mark(ctx context.Context, p policy.Policy) (func(), error) {
	if p.Done != policy.ByStories {
		return func() {}, nil
	}
	if d.place != nil {
		if err := d.tool.Exclude(ctx, *d.place, "/.ralph-active", "/.ralph/"); err != nil {
			return nil, err
		}
	}
	remove, err := workspace.Mark(d.root(), workspace.Active{
		Timestamp: d.w.now().UTC(), PID: os.Getpid(), MaxIterations: p.Limits.Iterations, Mode: "direct",
	})
	if err != nil {
		return nil, err
	}
	return func() {
		if err := remove(); err != nil {
			fmt.Fprintln(d.w.stderr, err)
		}
	}, nil
}

// finish prints how the run ended, and gives its exit code.
func (d *desk) finish(ctx context.Context, outcome job.Outcome) (int, error) {
	run := outcome.Run
	if err := d.settle(context.WithoutCancel(ctx), run); err != nil {
		return 0, err
	}
	var err error
	switch {
	case d.JSON:
		err = printResult(d.w.stdout, run, outcome.Home)
	case run.Policy.Apart && run.Head != run.Start:
		_, err = fmt.Fprintf(d.w.stdout, "the work is on the branch %s: git diff %s...%s\n", run.Branch, run.BaseRef, run.Branch)
	}
	return run.Stop.Reason.Status().Exit(false), err
}

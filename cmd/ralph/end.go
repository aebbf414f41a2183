package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

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

// settle leaves the PRD as the program believes it, in the user's own tree.
func (d *desk) settle(ctx context.Context, run journal.Run) error {
	if run.Policy.Done != policy.ByStories || run.Policy.Apart {
		return nil
	}
	return job.Desk{Git: d.tool, Place: *d.place}.Settle(ctx, run, filepath.Join(d.w.env("HOME"), ".gitconfig"))
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
	err = errors.Join(brief(broke, run), d.settle(ctx, run), err, d.conclude(outcome, tree.Dir))
	d.notify(ctx, outcome, tree.Dir)
	code := run.Stop.Reason.Status().Exit(false)
	if err != nil && code != fault.ExitDone {
		err = &fault.Fault{What: err.Error(), Fix: hint(err), Exit: code}
	}
	return code, err
}

// brief is what broke the run without the cause, where the run's end has told of
// that.
func brief(broke error, run journal.Run) error {
	f, is := errors.AsType[*fault.Fault](broke)
	if !is || f.Error() != broke.Error() || run.Stop.Why != broke.Error() {
		return broke
	}
	return &fault.Fault{What: f.What, Fix: f.Fix, Exit: f.Exit}
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
	case run.Policy.Apart && run.Head != run.Start && run.Pushed != run.Head:
		text += fmt.Sprintf("the work is not all on the branch %s yet: %s goes on with it\n", run.Branch, view.Resume(run.Policy.Agent))
	case run.Policy.Apart && run.Head != run.Start:
		text += fmt.Sprintf("the work is on the branch %s: git diff %s...%s\n", run.Branch, run.BaseRef, run.Branch)
	}
	_, err := fmt.Fprint(d.w.stdout, d.secrets.String(text))
	return err
}

package laptop

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// Begin starts the run and sees it through.
func (d *Project) Begin(ctx context.Context, asked job.NewRun) (int, error) {
	j, err := d.prepare(ctx, asked.Policy)
	if err != nil {
		return 0, err
	}
	defer d.closeSandbox(j.Machine.Sandbox)
	asked.Policy = d.withBoxed(asked.Policy, j)
	asked.Policy.Agent = j.Agents.Agent.Name
	asked.Level = d.level(j.Machine.Sandbox)
	asked.Notes = append(asked.Notes, j.Machine.Sandbox.Notices()...)
	asked.Run = workspace.RunName("run", d.World.Now())
	if d.Place == nil {
		asked.Branch = ""
	} else {
		asked.BaseRef = d.Place.Branch
		asked.Base = d.Place.Head
		if !asked.Policy.Worktree && asked.Policy.Done != policy.ByStories {
			asked.Branch = d.Place.Branch
		}
		if asked.Policy.Done == policy.ByStories {
			asked.Unfinished = d.unfinishedOnBranch()
		}
	}
	if d.DryRun {
		asked.Start = asked.Base
		return d.printDryRun(j, journal.Run{}, asked.RunBegan)
	}
	return d.execute(ctx, j, asked.Policy, func() (job.Outcome, error) {
		asked, err := d.prepareTree(ctx, j, asked)
		if err != nil {
			return job.Outcome{}, err
		}
		return j.Start(ctx, asked)
	})
}

// Resume continues a run by these rules. The agent gets words in its next prompts.
func (d *Project) Resume(
	ctx context.Context, home workspace.Run, old journal.Run, p policy.Policy, words string,
) (int, error) {
	if err := d.checkResumable(ctx, old); err != nil {
		return 0, err
	}
	if old.Policy.Done == policy.ByStories && d.Work != nil {
		if err := d.Work.AtRest(); err != nil {
			return 0, err
		}
		if len(d.Work.Dirty) > 0 && !old.Policy.Boxed {
			d.line("uncommitted changes count as work of the run: " + journal.ShortList(d.Work.Dirty))
		}
	}
	j, err := d.job(ctx, p)
	if err != nil {
		return 0, err
	}
	defer d.closeSandbox(j.Machine.Sandbox)
	p = d.withBoxed(p, j)
	p.Agent = j.Agents.Agent.Name
	resumed := journal.Resumed{
		Why:    "on request",
		Policy: &p,
		Level:  d.level(j.Machine.Sandbox),
		Words:  strings.TrimSpace(words),
	}
	if d.DryRun {
		return d.printDryRun(j, old, resumed)
	}
	return d.execute(ctx, j, p, func() (job.Outcome, error) {
		return j.Resume(ctx, home, resumed)
	})
}

// job gathers what a run by p needs, and fails before anything is spent.
func (d *Project) job(ctx context.Context, p policy.Policy) (*job.Job, error) {
	if errors.As(d.noPlace, new(*git.Unreadable)) { // unreadable is not the same as no repository
		return nil, d.noPlace
	}
	if err := d.CheckNotHome(); err != nil {
		return nil, err
	}
	found, err := d.findAgents(ctx, p)
	if err != nil {
		return nil, err
	}
	found.CheckEnv = func(sb *confine.Sandbox) []string {
		return d.World.EnvironInside(sb, d.Settings.Sandbox.Env...)
	}
	found.Kept = func(sb *confine.Sandbox) checkout.Kept {
		return d.World.keptBaselines(sb, d.Needs, d.Settings.Sandbox.AllowDomains)
	}
	j, err := job.New(ctx, found, job.Job{
		Machine: job.Machine{
			Folder:      d.runs(),
			TreesBeside: !d.DryRun && d.runs().HasState(),
			Exec:        d.World.Runner.Run,
			Now:         d.World.Now,
			Git:         d.Tool,
			UserEnv:     d.environOutside(),
			Secrets:     d.secrets,
		},
		Agents: job.Agents{Watch: d.itemPrinter()},
		Audience: job.Audience{
			OnEvent: d.console.event,
			Log:     d.line,
			OnCheck: d.console.checking,
		},
		Drain:       d.World.Drain,
		Abort:       d.World.Runner.Hard,
		Version:     d.World.Version,
		SaveTimeout: Rescue,
	})
	if err != nil {
		return nil, err
	}
	for _, note := range j.Agents.Agent.Notes {
		d.line("note: " + note)
	}
	if err := d.placeWork(ctx, j, d.withBoxed(p, j)); err != nil {
		d.closeSandbox(j.Machine.Sandbox)
		return nil, err
	}
	return j, nil
}

// withBoxed returns the policy with Boxed as the sandbox of the job has it.
func (d *Project) withBoxed(p policy.Policy, j *job.Job) policy.Policy {
	p.Boxed = j.Machine.Sandbox != nil && !d.DryRun
	return p
}

// placeWork sets where the agent works, and where its work goes.
func (d *Project) placeWork(ctx context.Context, j *job.Job, p policy.Policy) error {
	if d.Place == nil {
		j.Code.Dir = d.ProjectDir
		if p.Boxed {
			j.Code.Box = &job.UserFolder{Top: d.ProjectDir}
		}
		return nil
	}
	j.Code.Project = d.Place.Top
	if p.Boxed || p.Done == policy.ByStories {
		j.Code.Origin = job.UserRepository{Git: d.Tool, Place: *d.Work}.Fetch
	}
	if p.Boxed {
		j.Code.Box = &job.UserFolder{Top: d.Work.Top, Place: d.Work}
		return nil
	}
	tree, err := d.Tool.Own(ctx, *d.Work)
	j.Code.UserTree = tree
	return err
}

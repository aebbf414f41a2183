//go:build !windows

package main

import (
	"cmp"
	"context"
	"path"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// iterations are the flags for a run's limit, by all the names that users know.
type iterations struct {
	MaxIterations *int `short:"m" xor:"n" aliases:"maximum-iterations" placeholder:"N" help:"Limit of iterations (0: no limit)."`
	Alias         *int `name:"n" short:"n" xor:"n" hidden:"" help:"Alias."`
}

func (i iterations) limit(preset int) int {
	return policy.Given(i.MaxIterations, policy.Given(i.Alias, preset))
}

type runCommand struct {
	laptop.Flags
	Prompt     *string `short:"p" xor:"prompt" placeholder:"TEXT" help:"Prompt for the agent."`
	PromptFile string  `short:"f" xor:"prompt" type:"path" placeholder:"FILE" help:"File with the prompt, read again for each iteration."`
	iterations
	CompletionResponse string   `group:"all" placeholder:"WORD" help:"Word that the agent answers in <response> when it is done (default: ${response})."`
	StreamAgentOutput  *bool    `group:"all" negatable:"" help:"Show what the agent says and does."`
	RalphDir           string   `group:"all" placeholder:"DIR" help:"Directory of prd.json and progress.txt in the project (default: ralph)."`
	Config             string   `group:"all" short:"c" type:"path" placeholder:"FILE" help:"Settings file (JSON or YAML) on top of the project's, or a YAML file with ralph_loop."`
	Branch             string   `group:"all" placeholder:"NAME" help:"Branch for the work on stories (default: branchName of the PRD, else the current one, but never the default branch)."`
	Check              []string `sep:"none" placeholder:"CMD" help:"Check command, in addition to those of settings and PRD. Repeatable."`

	settings config.Loop // in force
}

func (c runCommand) run(ctx context.Context, w world) (int, error) {
	d, err := c.Open(ctx, w.World)
	if err != nil {
		return 0, err
	}
	d.Stream = c.StreamAgentOutput
	c.settings, err = d.Configured(c.Config)
	if err != nil {
		return 0, err
	}
	asked, err := c.newRun(ctx, d)
	if err != nil {
		return 0, err
	}
	return d.Begin(ctx, asked)
}

func (c runCommand) newRun(ctx context.Context, d *laptop.Project) (job.NewRun, error) {
	if c.Prompt == nil && c.PromptFile == "" {
		return c.stories(ctx, d)
	}
	if c.Branch != "" {
		return job.NewRun{}, fault.Usage("--branch is for stories", "leave out -p and -f, or --branch", nil)
	}
	p := c.withFlags(d, policy.ForPreset(policy.ByResponse))
	if c.PromptFile != "" {
		name, err := workspace.TextFile(d.Root(), c.PromptFile)
		if err != nil {
			return job.NewRun{}, fault.Usage("cannot read the prompt file "+c.PromptFile, "name another with -f", err)
		}
		p.PromptFile = name
	}
	p.Word = cmp.Or(c.CompletionResponse, p.Word)
	prompt := policy.Given(c.Prompt, "")
	return promptRun(ctx, d, p, "ralph/"+plan.Slug(prompt, 40), prompt)
}

// promptRun returns a run over a text, which may be empty if the policy names a file.
func promptRun(ctx context.Context, d *laptop.Project, p policy.Policy, branch, text string) (job.NewRun, error) {
	if p.Worktree {
		if err := d.Repository(ctx); err != nil {
			return job.NewRun{}, err
		}
	}
	return job.NewRun{RunBegan: journal.RunBegan{
		Policy: p,
		Branch: branch,
		Task:   plan.Task{Kind: plan.KindPrompt, Title: plan.Slug(text, 60), Body: text},
	}}, nil
}

func (c runCommand) withFlags(d *laptop.Project, p policy.Policy) policy.Policy {
	p = d.WithFlags(c.settings.ApplyToRun(p))
	p.Limits.Iterations = c.limit(p.Limits.Iterations)
	p.Checks = policy.AddChecks(p.Checks, c.Check, policy.DefaultCheckTimeout)
	return p
}

func (c runCommand) stories(ctx context.Context, d *laptop.Project) (job.NewRun, error) {
	memory, err := workspace.MemoryPath(d.ProjectDir, c.RalphDir)
	if err != nil {
		return job.NewRun{}, err
	}
	stories, prd, err := d.PRD(memory)
	if err != nil {
		return job.NewRun{}, err
	}
	if stories.UserStories == nil {
		return job.NewRun{}, fault.Usage("nothing to work on: no prompt given, and no "+prd,
			"give a prompt with -p or -f, make a PRD (ralph init --prd), or name the folder of one with -d", nil)
	}
	if err := d.Repository(ctx); err != nil {
		return job.NewRun{}, err
	}
	c.Check = append(stories.VerifyCommands, c.Check...)
	p := c.withFlags(d, policy.ForPreset(policy.ByStories))
	if memory != workspace.MemoryDir || p.Subfolder != "" {
		p.Memory = path.Join(p.Subfolder, filepath.ToSlash(memory))
	}
	branch, err := d.WorkBranch(ctx, p.Worktree, c.Branch, stories, prd)
	if err != nil {
		return job.NewRun{}, err
	}
	var notes []journal.Noted
	if len(p.Checks) == 0 {
		p, notes, err = d.SuggestedChecks(ctx, p)
		if err != nil {
			return job.NewRun{}, err
		}
	}
	return job.NewRun{Notes: notes, RunBegan: journal.RunBegan{
		Policy: p,
		Plan:   stories,
		Source: string(plan.SourceJSON),
		Branch: branch,
		Task:   plan.Task{Kind: plan.KindPrompt, Title: stories.Project, Body: stories.Description},
	}}, nil
}

type resumeCommand struct {
	laptop.Flags
	iterations
	Answer string `placeholder:"TEXT" help:"Answer to the agent's question, or a hint for the next prompts."`
	ID     string `arg:"" optional:"" name:"run" help:"ID of the run (default: the newest that is not complete)."`
}

func (c resumeCommand) run(ctx context.Context, w world) (int, error) {
	d, err := c.Open(ctx, w.World)
	if err != nil {
		return 0, err
	}
	home, old, err := d.Unfinished(c.ID)
	if err != nil {
		return 0, err
	}
	if err := d.ReuseAgent(home.ID, old.Policy); err != nil {
		return 0, err
	}
	if err := d.KeepLevel(old.Level); err != nil {
		return 0, err
	}
	return d.Resume(ctx, home, old, c.withFlags(old.Policy), c.Answer)
}

func (c resumeCommand) withFlags(p policy.Policy) policy.Policy {
	p.Limits = c.Limited(p.Limits)
	p.Limits.Iterations = c.limit(p.Limits.Iterations)
	p.Model = cmp.Or(c.Model, p.Model)
	return p
}

//go:build !windows

package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
)

type loopCommand struct {
	laptop.Flags
	Task          string   `arg:"" optional:"" help:"The task."`
	Check         []string `sep:"none" placeholder:"CMD" help:"Check command that must pass. Repeatable."`
	Spec          string   `type:"path" placeholder:"FILE" help:"File with the task, read again for each iteration."`
	MaxIterations *int     `short:"m" aliases:"maximum-iterations" placeholder:"N" help:"Limit of iterations, 1 to 100."`
	CompletionTag string   `group:"all" placeholder:"TAG" help:"Word with which the agent says that it is done (default: ${tag})."`
	Config        string   `group:"all" short:"c" type:"path" placeholder:"FILE" help:"Settings file, or a YAML file with ralph_loop."`
	Quiet         bool     `help:"Print only the result."`
}

func (c loopCommand) run(ctx context.Context, w world) (int, error) {
	d, err := c.Open(ctx, w.World)
	if err != nil {
		return 0, err
	}
	asked, err := c.newRun(ctx, d)
	if err != nil {
		return 0, err
	}
	d.Quiet = c.Quiet
	return d.Begin(ctx, asked)
}

func (c loopCommand) newRun(ctx context.Context, d *laptop.Project) (job.NewRun, error) {
	if strings.TrimSpace(c.Task) == "" && c.Spec == "" {
		fix := `for example: ralph loop "Fix the login" --check "make test"`
		return job.NewRun{}, fault.Usage("the loop needs a task or a --spec", fix, nil)
	}
	p, err := c.policy(d)
	if err != nil {
		return job.NewRun{}, err
	}
	if len(p.Checks) == 0 {
		return job.NewRun{}, fault.Usage("the loop needs a check to pass", `for example: --check "make test"`, nil)
	}
	if c.Spec != "" {
		p.PromptFile, err = workspace.TextFile(d.Root(), c.Spec)
		if err != nil {
			return job.NewRun{}, fault.Usage("cannot read the specification "+c.Spec, "name another with --spec", err)
		}
	}
	return promptRun(ctx, d, p, "ralph/loop", c.Task)
}

func (c loopCommand) policy(d *laptop.Project) (policy.Policy, error) {
	loop, err := d.Configured(c.Config)
	if err != nil {
		return policy.Policy{}, err
	}
	p := d.WithFlags(loop.ApplyTo(policy.ForPreset(policy.ByTag)))
	p.Limits.Iterations = policy.Given(c.MaxIterations, p.Limits.Iterations)
	if n := p.Limits.Iterations; n < 1 || n > 100 {
		what := fmt.Sprintf("a loop has 1 to 100 iterations, not %d", n)
		return p, fault.Usage(what, "set --max-iterations, or the number in the file of --config", nil)
	}
	p.Word = cmp.Or(c.CompletionTag, p.Word)
	p.Checks = policy.AddChecks(p.Checks, c.Check, config.GuardrailTimeout)
	return p, nil
}

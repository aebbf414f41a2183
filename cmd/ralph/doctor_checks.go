package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/scaffold"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// checks are found as a run here would find them, or a job where GitHub is asked,
// and tried as ralph checks tries them. Where they cannot be looked at, that is
// what there is to tell: not every run needs a repository.
func (c doctorCommand) checks(ctx context.Context, w world, all *found) error {
	d, done, err := laptop.Flags{ProjectDir: c.ProjectDir, DryRun: true}.Open(ctx, w.World)
	if err != nil {
		return err
	}
	defer done()
	look := checksCommand{ProjectDir: c.ProjectDir, Check: c.Check, find: c.Checks == nil}
	seen, err := c.judged(ctx, d, look)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		seen = doctor.NoChecks(err, fault.Hint(err))
	}
	all.Checks = &seen
	return nil
}

func (c doctorCommand) judged(ctx context.Context, d *laptop.Project, look checksCommand) (doctor.Checks, error) {
	rules := look.policy
	if c.GitHub {
		rules = look.inJob
	}
	run, err := look.look(ctx, d, rules, checkout.Verifier{Hand: check.Hand{Began: progress(d.World)}})
	if err != nil {
		return doctor.Checks{}, err
	}
	return doctor.LookAtChecks(run), nil
}

// inJob is what a job would go by, as the workflow and the settings that lie here
// have it; those of this machine alone are not a job's.
func (c checksCommand) inJob(d *laptop.Project) (policy.Policy, error) {
	workflow, err := workspace.ReadSettings(d.Root(), scaffold.WorkflowFile)
	if err != nil {
		return policy.Policy{}, err
	}
	given, err := config.OfWorkflow(workflow)
	if err != nil {
		return policy.Policy{}, fault.Usage(scaffold.WorkflowFile+" cannot be used", "mend it, or see what ralph init --github lays out", err)
	}
	given["checks"] = strings.Join(append([]string{given["checks"]}, c.Check...), "\n")
	inputs, err := config.ReadInputs(func(name string) string { return given[name] })
	if err != nil {
		return policy.Policy{}, err
	}
	data, err := workspace.ReadSettings(d.Root(), cmp.Or(given["config"], config.BaseSettings))
	if err != nil || data == nil {
		return inputs.Policy, err
	}
	settings, err := config.ReadSettings(config.File{Name: config.BaseSettings, Data: data})
	settings.Under(&inputs)
	return inputs.Policy, err
}

// progress tells, on a terminal, which command is at work: some take their time.
func progress(w laptop.World) func(policy.Check) {
	if !term.IsTerminal(int(w.Stderr.Fd())) {
		return nil
	}
	return func(c policy.Check) { fmt.Fprint(w.Stderr, clean.LogLines("trying "+c.Name+" …")) }
}

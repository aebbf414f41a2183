//go:build !windows

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/entry/doctor"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/entry/scaffold"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
	"github.com/ralph-loop/ralph/internal/show/view"
)

func (c doctorCommand) policy(d *laptop.Project) (policy.Policy, error) {
	p := d.Settings.ApplyTo(policy.ForPreset(policy.ByStories))
	p.Subfolder = d.Within()
	stories, err := startedPRD(d)
	if err != nil {
		return p, err
	}
	p.Checks = policy.AddChecks(p.Checks, append(stories.VerifyCommands, c.Check...), policy.DefaultCheckTimeout)
	return p, nil
}

// startedPRD returns the PRD, also if its stories are not filled in yet.
func startedPRD(d *laptop.Project) (plan.Plan, error) {
	stories, file, err := d.PRD(workspace.MemoryDir)
	if !errors.As(err, new(*plan.Invalid)) {
		return stories, err
	}
	data, readErr := workspace.ReadFile(file)
	if readErr != nil || json.Unmarshal(data, &stories) != nil {
		return stories, err
	}
	fmt.Fprint(d.World.Stderr, clean.LogLines("note: "+file+" is not filled in; only its verifyCommands are used"))
	return stories, nil
}

// checks tries those of a run at HEAD, or only finds them. Without --checks they may be missing: not every run
// needs a repository.
func (c doctorCommand) checks(ctx context.Context, w world, all *found) error {
	d, err := laptop.Flags{
		ProjectDir: c.ProjectDir,
		DryRun:     true,
		Sandbox:    c.Sandbox,
		NoSandbox:  c.NoSandbox,
		Reach:      c.Reach,
		Secrecy:    c.Secrecy,
	}.Open(ctx, w.World)
	if err != nil {
		return err
	}
	run, err := c.atHead(ctx, d)
	if err != nil && (c.tries() || ctx.Err() != nil) {
		return err
	}
	if err != nil {
		all.Checks = new(doctor.NoChecks(err))
		return nil
	}
	checks := doctor.LookAtChecks(run)
	checks.Planned = hasPRD(d)
	checks.Given = c.Check
	all.Checks = &checks
	return nil
}

func hasPRD(d *laptop.Project) bool {
	stories, _, err := d.PRD(workspace.MemoryDir)
	if err != nil {
		return true // it exists, and cannot be read
	}
	return stories.UserStories != nil
}

// atHead returns first what git lacks.
func (c doctorCommand) atHead(ctx context.Context, d *laptop.Project) (run journal.Run, err error) {
	if _, err := d.Tool.Version(ctx); err != nil {
		return run, err
	}
	head, err := d.Tool.Named(ctx, c.ProjectDir, "HEAD")
	if err != nil {
		return run, err
	}
	rules := c.policy
	if c.GitHub {
		rules = c.inJob
	}
	p, err := rules(d)
	if err != nil {
		return run, err
	}
	enclosure := laptop.Enclosure{
		Project: c.ProjectDir,
		Allow:   d.Settings.Sandbox.AllowDomains,
		Vars:    slices.Concat(d.Settings.Sandbox.Env, c.Env),
	}
	look := (*checkout.Verifier).Find
	if c.tries() {
		look = (*checkout.Verifier).Look
		enclosure.Needs = d.Needs
		enclosure.Level, err = d.LevelOfChecks()
		if err != nil {
			return run, err
		}
	}
	err = c.WithVerifier(ctx, d.World, d.Tool, enclosure, func(v *checkout.Verifier) error {
		v.Tell = printFailed(d.World)
		v.Hand.Began = progress(d.World)
		var err error
		run, err = look(v, ctx, c.ProjectDir, head, p)
		return err
	})
	return run, err
}

// inJob leaves out the settings of this machine alone: a job has none of them.
func (c doctorCommand) inJob(d *laptop.Project) (policy.Policy, error) {
	workflow, err := workspace.ReadSettings(d.Root(), scaffold.WorkflowFile)
	if err != nil {
		return policy.Policy{}, err
	}
	given, err := config.InputsOfWorkflow(workflow)
	if err != nil {
		fix := "fix it, or compare it with what ralph init --github writes"
		return policy.Policy{}, fault.Usage(scaffold.WorkflowFile+" cannot be used", fix, err)
	}
	given["checks"] = strings.Join(append([]string{given["checks"]}, c.Check...), "\n")
	getenv := func(name string) string { return given[name] }
	inputs, err := config.ReadInputs(getenv, slices.Collect(maps.Keys(given))...)
	if err != nil {
		return policy.Policy{}, err
	}
	name := cmp.Or(inputs.Config, workspace.SettingsFile)
	data, err := workspace.ReadSettings(d.Root(), name)
	if err != nil || data == nil {
		return inputs.Policy, err
	}
	settings, err := config.ReadSettings(config.File{Name: name, Data: data})
	if err != nil {
		return inputs.Policy, err
	}
	if inputs.Config == "" {
		settings.ApplyToInputs(&inputs)
		return inputs.Policy, nil
	}
	_, err = settings.ApplyNamed(&inputs)
	return inputs.Policy, err
}

// printFailed prints the output of what fails, which the result has no room for.
func printFailed(w laptop.World) func(journal.Run, journal.Event) {
	return func(run journal.Run, event journal.Event) {
		if text := view.LineAndOutput(run, event); text != view.Line(run, event) {
			fmt.Fprint(w.Stderr, clean.LogLines(text))
		}
	}
}

// progress is for terminals: some commands take their time.
func progress(w laptop.World) func(string, policy.Check) {
	if !term.IsTerminal(int(w.Stderr.Fd())) {
		return nil
	}
	return func(kind string, c policy.Check) { fmt.Fprint(w.Stderr, clean.LogLines(kind+" "+c.Name+" …")) }
}

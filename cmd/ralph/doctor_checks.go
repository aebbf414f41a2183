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

// localPolicy returns the policy of a run on this machine.
func (c doctorCommand) localPolicy(d *laptop.Project) (policy.Policy, error) {
	p := d.Settings.ApplyTo(policy.ForPreset(policy.ByStories))
	p.Subfolder = d.Within()
	stories, err := startedPRD(d)
	if err != nil {
		return p, err
	}
	p.Checks = policy.AddChecks(p.Checks, append(stories.VerifyCommands, c.Check...), policy.DefaultCheckTimeout)
	return p, nil
}

// startedPRD returns the PRD. Of a PRD that is not filled in yet, only the verifyCommands are used.
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

// checks runs or lists the checks that a run at HEAD would have. When they are only listed, they may be missing: not
// every run needs a repository.
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
	run, err := c.checksAtHead(ctx, d)
	if err != nil {
		if c.runsChecks() || ctx.Err() != nil {
			return err
		}
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

// checksAtHead returns a run with the checks at HEAD. If git or HEAD is missing, it returns that error first.
func (c doctorCommand) checksAtHead(ctx context.Context, d *laptop.Project) (run journal.Run, err error) {
	if _, err := d.Tool.Version(ctx); err != nil {
		return run, err
	}
	head, err := d.Tool.Named(ctx, c.ProjectDir, "HEAD")
	if err != nil {
		return run, err
	}
	readPolicy := c.localPolicy
	if c.GitHub {
		readPolicy = c.jobPolicy
	}
	p, err := readPolicy(d)
	if err != nil {
		return run, err
	}
	enclosure := laptop.Enclosure{
		Project: c.ProjectDir,
		Allow:   d.Settings.Sandbox.AllowDomains,
		Vars:    slices.Concat(d.Settings.Sandbox.Env, c.Env),
	}
	findOrRun := (*checkout.Verifier).Find
	if c.runsChecks() {
		findOrRun = (*checkout.Verifier).Look
		enclosure.Needs = d.Needs
		enclosure.Level, err = d.LevelOfChecks()
		if err != nil {
			return run, err
		}
	}
	err = c.WithVerifier(ctx, d.World, d.Tool, enclosure, func(v *checkout.Verifier) (err error) {
		v.Tell = printFailed(d.World)
		v.Hand.Began = progress(d.World)
		run, err = findOrRun(v, ctx, c.ProjectDir, head, p)
		return err
	})
	return run, err
}

// jobPolicy returns the policy of a job: that of the workflow and of the settings in the repository.
func (c doctorCommand) jobPolicy(d *laptop.Project) (policy.Policy, error) {
	workflow, err := workspace.ReadSettings(d.Root(), scaffold.WorkflowFile)
	if err != nil {
		return policy.Policy{}, err
	}
	inputsByName, err := config.InputsOfWorkflow(workflow)
	if err != nil {
		return policy.Policy{}, fault.Usage(scaffold.WorkflowFile+" cannot be used",
			"fix it, or compare it with what ralph init --github writes", err)
	}
	inputsByName["checks"] = strings.Join(append([]string{inputsByName["checks"]}, c.Check...), "\n")
	getenv := func(name string) string { return inputsByName[name] }
	inputs, err := config.ReadInputs(getenv, slices.Collect(maps.Keys(inputsByName))...)
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

// printFailed prints the output of failed commands, which the result leaves out.
func printFailed(w laptop.World) func(journal.Run, journal.Event) {
	return func(run journal.Run, event journal.Event) {
		if text := view.LineAndOutput(run, event); text != view.Line(run, event) {
			fmt.Fprint(w.Stderr, clean.LogLines(text))
		}
	}
}

// progress prints each command as it begins, if a person watches: some commands are slow.
func progress(w laptop.World) func(string, policy.Check) {
	if !term.IsTerminal(int(w.Stderr.Fd())) {
		return nil
	}
	return func(kind string, c policy.Check) { fmt.Fprint(w.Stderr, clean.LogLines(kind+" "+c.Name+" …")) }
}

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
	stories, file, err := d.PRD(workspace.MemoryDir)
	if errors.As(err, new(*plan.Invalid)) { // its stories may not be filled in yet
		data, unread := workspace.ReadFile(file)
		if unread == nil && json.Unmarshal(data, &stories) == nil {
			err = nil
			fmt.Fprint(d.World.Stderr, clean.LogLines("note: "+file+" is not filled in; only its verifyCommands are used"))
		}
	}
	if err != nil {
		return p, err
	}
	p.Checks = policy.AddChecks(p.Checks, append(stories.VerifyCommands, c.Check...), policy.DefaultCheckTimeout)
	return p, nil
}

// checks tries those of a run at HEAD, or only finds them. Without --checks they may be missing: not every run
// needs a repository.
func (c doctorCommand) checks(ctx context.Context, w world, all *found) error {
	d, err := laptop.Flags{
		ProjectDir: c.ProjectDir, DryRun: true, Sandbox: c.Sandbox, NoSandbox: c.NoSandbox, Reach: c.Reach, Secrecy: c.Secrecy,
	}.Open(ctx, w.World)
	if err != nil {
		return err
	}
	run, err := c.atHead(ctx, d)
	if err == nil {
		seen := doctor.LookAtChecks(run)
		seen.Planned, seen.Given = hasPRD(d), c.Check
		all.Checks = &seen
		return nil
	}
	if !c.tries() && ctx.Err() == nil {
		seen := doctor.NoChecks(err, fault.Hint(err))
		all.Checks, err = &seen, nil
	}
	return err
}

func hasPRD(d *laptop.Project) bool {
	stories, _, err := d.PRD(workspace.MemoryDir)
	return err != nil || stories.UserStories != nil // one that cannot be read is there
}

// atHead says first what git lacks.
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
	who := laptop.Enclosure{Project: c.ProjectDir, Allow: d.Settings.Sandbox.AllowDomains, Vars: slices.Concat(d.Settings.Sandbox.Env, c.Env)}
	see := (*checkout.Verifier).Find
	if c.tries() {
		see, who.Needs = (*checkout.Verifier).Look, d.Needs
		if who.Level, err = d.LevelOfChecks(); err != nil {
			return run, err
		}
	}
	err = c.WithVerifier(ctx, d.World, d.Tool, who, func(v *checkout.Verifier) (err error) {
		v.Tell, v.Hand.Began = tellFailed(d.World), progress(d.World)
		run, err = see(v, ctx, c.ProjectDir, head, p)
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
		return policy.Policy{}, fault.Usage(scaffold.WorkflowFile+" cannot be used", "fix it, or compare it with what ralph init --github writes", err)
	}
	given["checks"] = strings.Join(append([]string{given["checks"]}, c.Check...), "\n")
	inputs, err := config.ReadInputs(func(name string) string { return given[name] }, slices.Collect(maps.Keys(given))...)
	if err != nil {
		return policy.Policy{}, err
	}
	name := cmp.Or(inputs.Config, workspace.SettingsFile)
	data, err := workspace.ReadSettings(d.Root(), name)
	if err != nil || data == nil {
		return inputs.Policy, err
	}
	settings, err := config.ReadSettings(config.File{Name: name, Data: data})
	if inputs.Config == "" {
		settings.ApplyToInputs(&inputs)
	} else if err == nil {
		_, err = settings.ApplyNamed(&inputs)
	}
	return inputs.Policy, err
}

// tellFailed shows the output of what fails, which the result has no room for.
func tellFailed(w laptop.World) func(journal.Run, journal.Event) {
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

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

	"github.com/ralph-loop/ralph/internal/checkout"
	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/scaffold"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type checksCommand struct {
	ProjectDir string   `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory (default: current directory)."`
	Check      []string `sep:"none" placeholder:"CMD" help:"Check command, in addition to those of settings and PRD. Repeatable."`
	Trust      bool     `help:"Accept settings that open the sandbox, or are not those of the newest run."`
	JSON       bool     `name:"json" help:"Print the result as one JSON object."`
	laptop.Fence
	laptop.Reach
	laptop.Secrecy
	laptop.Passing
	find bool // and run nothing
}

func (c checksCommand) run(ctx context.Context, w world) (int, error) {
	d, err := c.open(ctx, w)
	if err != nil {
		return 0, err
	}
	to := w.Stdout
	if c.JSON {
		to = w.Stderr
	}
	run, err := c.look(ctx, d, c.policy, func(v *checkout.Verifier) {
		v.Tell = func(run journal.Run, event journal.Event) {
			fmt.Fprint(to, clean.LogLines(view.Line(run, event)))
			if check, is := event.(journal.CheckEnded); is && !check.Passed {
				fmt.Fprint(to, clean.LogLines("    "+strings.Join(view.Tail(check.Excerpt), "\n    ")))
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if seen := c.looked(d, run); c.JSON {
		err = clean.JSON(w.Stdout, seen)
	} else if seen.Usable {
		fmt.Fprintln(w.Stderr, "next:", seen.Next())
	}
	if err == nil && !run.Baseline.Usable {
		return fault.ExitStopped, nil
	}
	return fault.ExitDone, err
}

func (c checksCommand) policy(d *laptop.Project) (policy.Policy, error) {
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

func (c checksCommand) open(ctx context.Context, w world) (*laptop.Project, error) {
	return laptop.Flags{
		ProjectDir: c.ProjectDir, Trust: c.Trust, DryRun: true, Sandbox: c.Sandbox, NoSandbox: c.NoSandbox, Reach: c.Reach, Secrecy: c.Secrecy,
	}.Open(ctx, w.World)
}

// look runs the checks of some rules at HEAD, or only finds them. First it says what git lacks.
func (c checksCommand) look(ctx context.Context, d *laptop.Project, rules func(*laptop.Project) (policy.Policy, error), adapt func(*checkout.Verifier)) (run journal.Run, err error) {
	if _, err := d.Tool.Version(ctx); err != nil {
		return run, err
	}
	head, err := d.Tool.Named(ctx, c.ProjectDir, "HEAD")
	if err != nil {
		return run, err
	}
	p, err := rules(d)
	if err != nil {
		return run, err
	}
	who := laptop.Enclosure{Project: c.ProjectDir, Allow: d.Settings.Sandbox.AllowDomains, Vars: slices.Concat(d.Settings.Sandbox.Env, c.Env)}
	see := (*checkout.Verifier).Find
	if !c.find {
		see, who.Needs = (*checkout.Verifier).Look, d.Needs
		if who.Level, err = d.LevelOfChecks(ctx); err != nil {
			return run, err
		}
	}
	err = c.WithVerifier(ctx, d.World, d.Tool, who, func(v *checkout.Verifier) (err error) {
		adapt(v)
		run, err = see(v, ctx, c.ProjectDir, head, p)
		return err
	})
	return run, err
}

// checks may be missing without --checks: not every run needs a repository.
func (c doctorCommand) checks(ctx context.Context, w world, all *found) error {
	look := checksCommand{ProjectDir: c.ProjectDir, Trust: c.Trust, Check: c.Check, find: c.Checks == nil}
	if c.Sandbox { // who names both wants no check to run outside
		look.Sandbox = c.Level
	}
	d, err := look.open(ctx, w)
	if err != nil {
		return err
	}
	rules := look.policy
	if c.GitHub {
		rules = look.inJob
	}
	run, err := look.look(ctx, d, rules, func(v *checkout.Verifier) { v.Tell, v.Hand.Began = tellFailed(d.World), progress(d.World) })
	var seen doctor.Checks
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		seen = doctor.NoChecks(err, fault.Hint(err))
		all.noChecks = c.Checks != nil && *c.Checks
	default:
		seen = look.looked(d, run)
	}
	all.Checks = &seen
	return nil
}

func (c checksCommand) looked(d *laptop.Project, run journal.Run) doctor.Checks {
	seen := doctor.LookAtChecks(run)
	stories, _, err := d.PRD(workspace.MemoryDir)
	seen.Planned, seen.Given = err != nil || stories.UserStories != nil, c.Check
	return seen
}

// inJob leaves out the settings of this machine alone: a job has none of them.
func (c checksCommand) inJob(d *laptop.Project) (policy.Policy, error) {
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
	data, err := workspace.ReadSettings(d.Root(), cmp.Or(given["config"], config.BaseSettings))
	if err != nil || data == nil {
		return inputs.Policy, err
	}
	settings, err := config.ReadSettings(config.File{Name: config.BaseSettings, Data: data})
	settings.ApplyToInputs(&inputs)
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

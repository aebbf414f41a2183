package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/check"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

type checksCommand struct {
	ProjectDir string   `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	Check      []string `sep:"none" placeholder:"CMD" help:"A command that judges the work, besides those of settings and PRD."`
	JSON       bool     `name:"json" help:"Print the result as one JSON object."`
	fence
	passing
}

// Help gives the example.
func (checksCommand) Help() string {
	return `Runs, on a clean checkout of HEAD, the checks that a run here would be judged by:
those of the settings and the PRD, or where none is named, what the project's own
files suggest. Says what each is worth before any work.

Exit code 0: there is one that can prove something. 1: there is none.

Example: ralph checks --check "make test"`
}

func (checksCommand) guarded() bool { return true }

func (c checksCommand) run(ctx context.Context, w world) (int, error) {
	d, done, err := local{ProjectDir: c.ProjectDir, DryRun: true}.open(ctx, w)
	if err != nil {
		return 0, err
	}
	defer done()
	if _, err := d.tool.Version(ctx); err != nil {
		return 0, err
	}
	head, err := d.tool.Named(ctx, c.ProjectDir, "HEAD")
	if err != nil {
		return 0, err
	}
	p, err := c.policy(d)
	if err != nil {
		return 0, err
	}
	run, err := c.look(ctx, d, head, p)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		err = printChecks(w, run)
	}
	if err == nil && !run.Baseline.Usable {
		return fault.ExitStopped, nil
	}
	return fault.ExitDone, err
}

// policy is what a run over stories would go by here.
func (c checksCommand) policy(d *desk) (policy.Policy, error) {
	p := d.settings.Over(policy.Of(policy.Stories))
	p.Within = d.within()
	stories, _, err := d.prd(workspace.MemoryDir)
	if err != nil {
		return p, err
	}
	p.Checks = policy.With(p.Checks, append(stories.VerifyCommands, c.Check...), policy.DefaultCheckTimeout)
	return p, nil
}

// look runs them, and tells what they say as it happens.
func (c checksCommand) look(ctx context.Context, d *desk, head string, p policy.Policy) (run journal.Run, err error) {
	dir, done, err := d.w.room("checks")
	if err != nil {
		return journal.Run{}, err
	}
	defer done()
	to := d.w.stdout
	if c.JSON {
		to = d.w.stderr
	}
	wall, err := c.wall(ctx, d)
	if err != nil {
		return journal.Run{}, err
	}
	defer func() { err = errors.Join(err, wall.Close()) }()
	verifier := &job.Verifier{
		Wall: wall,
		Git:  d.tool, Dir: dir, Hand: check.Hand{Run: d.w.runner.Run, Env: d.w.within(wall, append(d.settings.Sandbox.Env, c.Env...)...)},
		Tell: func(run journal.Run, event journal.Event) { fmt.Fprint(to, harmless(view.Line(run, event))) },
	}
	return verifier.Look(ctx, c.ProjectDir, head, p)
}

// wall is the one that flags and settings ask for: these are the project's own
// commands, and run as a run would have them.
func (c checksCommand) wall(ctx context.Context, d *desk) (*job.Wall, error) {
	asked := d.settings.Sandbox
	if asked.Mode == inDocker { // in which checks do not run
		asked.Mode = ""
	}
	return c.raise(ctx, d.w, enclosure{level: sandbox.Level(asked.Mode), project: c.ProjectDir, allow: asked.AllowDomains, env: d.w.environ()})
}

// checked is one check for scripts.
type checked struct {
	Name     string         `json:"name"`
	Command  string         `json:"command"`
	Detected bool           `json:"detected"`
	Passed   bool           `json:"passed"`
	Exit     int            `json:"exit"`
	Tests    *journal.Tests `json:"tests,omitempty"`
}

func printChecks(w world, run journal.Run) error {
	told := struct {
		Base   string    `json:"base"`
		Usable bool      `json:"usable"`
		Why    string    `json:"why"`
		Setup  []string  `json:"setup"`
		Checks []checked `json:"checks"`
	}{Base: run.Base, Usable: run.Baseline.Usable, Why: run.Baseline.Why, Setup: []string{}, Checks: []checked{}}
	for _, command := range run.Policy.Setup {
		told.Setup = append(told.Setup, command.Command)
	}
	for _, rule := range run.Policy.Checks {
		said, _ := run.AtBase(rule.Name)
		told.Checks = append(told.Checks, checked{rule.Name, rule.Command, rule.Detected, said.Passed, said.Exit, said.Tests})
	}
	return printJSON(w.stdout, told)
}

package laptop

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/guarded"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
)

const noSandbox = "sandbox level none: the agent and the checks can do everything that you can"

// levelVar is the variable with the level where flags and settings name none.
const levelVar = "RALPH_SANDBOX"

// Wanted returns the level that flags, settings or environment name, or else the strongest available: on macOS
// Docker's.
func (d *Project) Wanted() (sandbox.Level, error) {
	if d.NoSandbox {
		return sandbox.None, nil
	}
	named, err := d.World.namedLevel(d.Sandbox, d.Settings)
	if err != nil {
		return "", err
	}
	word := cmp.Or(string(named), string(sandbox.Auto))
	if word == string(sandbox.Auto) && d.World.System == "darwin" {
		word = InDocker // the only sandbox there
	}
	if len(d.Settings.Sandbox.AllowDomains) > 0 && !d.canEnforceHosts(word) {
		return "", fault.Usage("sandbox.allowDomains of the settings needs a sandbox of ralph",
			"use --sandbox, or set sandbox.mode in the settings; --no-sandbox ignores the list", nil)
	}
	if word == InDocker && d.Worktree {
		return "", fault.Usage(
			"a Docker sandbox has only the folder of the work, and the history of a --worktree lies elsewhere",
			"leave out --worktree, or use ralph's own sandbox on Linux, or --no-sandbox", nil)
	}
	return sandbox.Level(word), nil
}

// LevelOfChecks returns the level of checks without an agent. As in a run, they are outside of a Docker sandbox that
// the settings or the environment name.
func (d *Project) LevelOfChecks() (sandbox.Level, error) {
	level, err := d.Wanted()
	if d.Sandbox == "" && level == InDocker && d.namedLevel() == InDocker {
		return sandbox.None, err
	}
	return level, err
}

// canEnforceHosts reports whether a level enforces a list of hosts. A flag or the settings can turn the list off with
// the level none, the environment cannot.
func (d *Project) canEnforceHosts(level string) bool {
	switch level {
	case InDocker:
		return false
	case string(sandbox.None):
		return d.Sandbox != "" || d.Settings.Sandbox.Mode != ""
	}
	return true
}

// namedLevel returns the level that a flag, the settings or the environment name, in this order; empty: none does.
// Flags and settings were checked when they were read.
func (w World) namedLevel(flag sandbox.Level, s config.Settings) (sandbox.Level, error) {
	level := sandbox.Level(cmp.Or(string(flag), s.Sandbox.Mode, w.Getenv(levelVar)))
	if level == "" || level == InDocker || level.Known() {
		return level, nil
	}
	return "", fault.Usage(fmt.Sprintf("%s: %q is not a sandbox level", levelVar, level),
		"set it to one of "+strings.Join(sandbox.Names(InDocker), ", "), nil)
}

func (d *Project) namedLevel() sandbox.Level {
	level, _ := d.World.namedLevel(d.Sandbox, d.Settings) // Wanted reports the error
	return level
}

// sandboxOptions returns those of the agents' sandbox.
func (d *Project) sandboxOptions(
	ctx context.Context, worker, second *job.FoundAgent, p policy.Policy,
) (confine.Options, error) {
	level, err := d.Wanted()
	if err != nil {
		return confine.Options{}, err
	}
	if level == sandbox.None || level == InDocker || d.DryRun {
		options := confine.Options{
			Level:   sandbox.None,
			Home:    d.World.Getenv("HOME"),
			Env:     d.World.Environ(),
			Network: confine.Network{Bundle: d.World.Getenv("NODE_EXTRA_CA_CERTS")},
		}
		if !d.DryRun {
			options.Needs = d.Needs
		}
		return options, nil
	}
	options, err := d.World.sandboxAround(Enclosure{
		Project: d.Root(),
		Allow:   d.Settings.Sandbox.AllowDomains,
		Needs:   d.Needs,
		Proofs:  p.Done == policy.ByStories,
	})
	if err != nil {
		return options, err
	}
	if err := worker.AdoptSettings(ctx, options, p.Model); err != nil {
		return options, err
	}
	if err := second.AdoptSettings(ctx, options, p.Review.Model); err != nil {
		return options, err
	}
	options.Level = level
	options.Model.Models = d.Settings.Sandbox.AllowModels
	return options, nil
}

// homeBeside returns the user's home. An agent works in all of the project's repository, so neither the
// home nor ralph's own state may be in it.
func (w World) homeBeside(project string) (string, error) {
	home := w.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", fault.Usage("no home folder", "set HOME", nil)
	}
	if resolved, err := filepath.EvalSymlinks(home); err == nil {
		home = resolved
	}
	root, err := filepath.EvalSymlinks(project)
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	repository := []string{guarded.Around(root)}
	if process.Within(home, repository) {
		return "", fault.Usage("your home folder is in the project, so the agent could read all of it",
			"work in another folder, make this one a repository (git init), or use --no-sandbox", nil)
	}
	stateDir := workspace.UserStateDir(home)
	if state := resolved(stateDir); process.Within(state, repository) {
		return "", fault.Usage("the folder of ralph's own state is in the project, "+
			"so the agent could change what ralph believes: "+state,
			"work in another folder, make "+stateDir+" a folder outside of the project, or use --no-sandbox", nil)
	}
	return home, nil
}

func (d *Project) closeSandbox(sb *confine.Sandbox) {
	if err := sb.Close(); err != nil {
		d.line("could not clean up the sandbox: " + err.Error())
	}
}

func (d *Project) sandboxLine(j *job.Job) string {
	if d.inDocker() {
		return "sandbox level docker: Docker's own, which ralph has not tested; " +
			"the checks run outside it and can do everything that you can"
	}
	description := j.Machine.Sandbox.Description(noSandbox)
	if j.Machine.Sandbox != nil && d.namedLevel() == "" {
		description += "; --no-sandbox turns it off"
	}
	return description
}

func (d *Project) level(sb *confine.Sandbox) string {
	if d.inDocker() {
		return InDocker
	}
	return sb.Name()
}

// InDocker is the level that Docker makes, and not ralph.
const InDocker = "docker"

const dockerState = ".dclaude_state"

// dockerSyncTime is how long Docker takes to have files on both sides.
const dockerSyncTime = 2 * time.Second

func (d *Project) inDocker() bool {
	level, err := d.Wanted()
	return err == nil && level == InDocker
}

// dockerLogin returns the folder of the login that all Docker sandboxes share, beside the user's own.
func (d *Project) dockerLogin() string { return filepath.Join(d.World.Getenv("HOME"), dockerState) }

// hasSBX reports whether sbx is installed, which comes before docker sandbox.
func (d *Project) hasSBX() bool {
	_, err := process.LookUp("sbx", d.Root(), d.environOutside())
	return err == nil
}

// checkDocker checks the requirements before anything is spent.
func (d *Project) checkDocker(ctx context.Context, docker string) error {
	if !d.inDocker() || d.DryRun {
		return nil
	}
	if !filepath.IsAbs(d.dockerLogin()) {
		return fault.Usage("no home folder for the login of the sandboxes", "set HOME", nil)
	}
	if err := os.MkdirAll(d.dockerLogin(), 0o700); err != nil {
		return fault.Usage("cannot make the folder for the login of the sandboxes",
			"make your home folder writable", err)
	}
	type question struct {
		argv      []string
		what, fix string
	}
	questions := []question{
		{
			argv: []string{docker, "sandbox", "ls"},
			what: "Docker sandboxes are not available",
			fix: "install Docker's sbx, or Docker Desktop 4.58 or later and enable sandboxes, " +
				"or give --no-sandbox",
		},
		{
			argv: []string{docker, "image", "inspect", agent.DockerImage},
			what: "no Docker image " + agent.DockerImage,
			fix: "docker build -t " + agent.DockerImage + " plugin/sandbox, in a checkout of ralph; " +
				"or give --no-sandbox",
		},
	}
	if d.hasSBX() {
		questions = []question{{
			argv: []string{docker, "ls"},
			what: "sbx cannot make sandboxes",
			fix:  "start `sbx ls` by hand and see what it prints, or give --no-sandbox",
		}}
	}
	for _, question := range questions {
		if err := d.runDocker(ctx, question.argv); err != nil {
			return fault.Usage(question.what, question.fix, err)
		}
	}
	return nil
}

// runDocker runs a command of Docker's without its output. Another exit code than 0 is an error.
func (d *Project) runDocker(ctx context.Context, argv []string) error {
	var stderr bytes.Buffer
	ended, err := d.World.Runner.Run(ctx, process.Command{
		Argv:    argv,
		Dir:     d.Root(),
		Env:     d.environOutside(),
		Stderr:  &stderr,
		Timeout: time.Minute,
	})
	if err != nil {
		return err
	}
	if ended.Exit != 0 {
		return fmt.Errorf("docker ended with %d: %s", ended.Exit, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

func (d *Project) mode() string {
	if d.inDocker() {
		return "sandbox"
	}
	return "direct"
}

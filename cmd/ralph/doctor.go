//go:build !windows

package main

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/entry/doctor"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

type doctorCommand struct {
	ProjectDir   string   `short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory (default: current directory)."`
	Agent        string   `placeholder:"NAME" help:"Agent to look for (default: from the settings)."`
	AgentCommand string   `placeholder:"CMD" help:"Program to run instead of the agent's own."`
	Agents       bool     `xor:"part" help:"Check only the agent of a run here."`
	GitHub       bool     `name:"github" xor:"part" help:"Check only the repository on GitHub: the token's permissions and the branch's rules."`
	Repo         string   `placeholder:"OWNER/NAME" help:"Repository (default: GITHUB_REPOSITORY, else the remote origin). The token is GITHUB_TOKEN or GH_TOKEN."`
	Checks       *bool    `negatable:"" help:"Run the checks. Without this flag they are only listed; --no-checks hides them."`
	Check        []string `sep:"none" placeholder:"CMD" help:"Check command, in addition to those found, such as the workflow's. Repeatable."`
	AppArmor     bool     `name:"apparmor" xor:"part" help:"Print the AppArmor profile that lets ralph make its strongest sandbox, on Ubuntu 24.04 or later."`
	JSON         bool     `name:"json" help:"Print the result as one JSON object."`
	laptop.Fence
	laptop.Reach   `group:"all"`
	laptop.Secrecy `group:"all"`
	laptop.Passing `group:"all"`
}

type found struct {
	GitHub   []doctor.Finding `json:"github,omitempty"`
	Agents   []doctor.Finding `json:"agents,omitempty"`
	Sandbox  *doctor.Sandbox  `json:"sandbox,omitempty"`
	Services []doctor.Finding `json:"services,omitempty"`
	Checks   *doctor.Checks   `json:"checks,omitempty"`

	home      bool // the folder is the user's home
	sandboxed bool // a run would use a sandbox, or the user asked about it
}

func (c doctorCommand) run(ctx context.Context, w world) (int, error) {
	if c.AppArmor {
		profile := sandbox.AppArmorProfile(w.Self)
		return fault.ExitDone, w.show(c.JSON, profile, profile)
	}
	all := found{sandboxed: c.Sandbox != ""}
	whole := !c.GitHub && !c.Agents && c.Sandbox == "" && !c.runsChecks() // all of this machine
	listsChecks := whole && c.Checks == nil
	for _, part := range []struct {
		wanted bool
		look   func(context.Context, world, *found) error
	}{
		{c.GitHub, c.onGitHub},
		{c.Agents || whole, c.agents},
		{c.Sandbox != "" || whole, c.confinement},
		{c.runsChecks() || listsChecks, c.checks},
	} {
		if !part.wanted {
			continue
		}
		if err := part.look(ctx, w, &all); err != nil {
			return 0, err
		}
	}
	if err := w.show(c.JSON, all, all.text()); err != nil {
		return 0, err
	}
	if len(all.gaps()) > 0 {
		return fault.ExitUsage, nil
	}
	if c.runsChecks() && !all.Checks.Usable {
		return fault.ExitStopped, nil
	}
	return fault.ExitDone, nil
}

func (c doctorCommand) runsChecks() bool { return c.Checks != nil && *c.Checks }

func (c doctorCommand) agents(ctx context.Context, w world, all *found) error {
	flags := laptop.Flags{ProjectDir: c.ProjectDir, Agent: c.Agent, AgentCommand: c.AgentCommand, DryRun: true}
	d, err := flags.Open(ctx, w.World)
	if err != nil {
		return err
	}
	level, err := d.Wanted()
	if err != nil {
		return err
	}
	chosen, options, err := d.Options()
	if err != nil {
		return err
	}
	chosenAgent := doctor.Agent{
		Name:    chosen,
		Options: options,
		Passed:  d.Default.Passed,
		Environ: d.World.Environ(),
		Dir:     d.ProjectDir,
		Run:     w.Runner.Run,
		Outside: d.Tool.Path,
	}
	all.home = d.CheckNotHome() != nil
	all.Services = doctor.LookAtServices(ctx, d.Needs.Services)
	all.Agents = []doctor.Finding{chosenAgent.Look(ctx)}
	all.sandboxed = level != sandbox.None && level != laptop.InDocker
	return nil
}

func (c doctorCommand) confinement(ctx context.Context, w world, all *found) error {
	if c.Sandbox == laptop.InDocker {
		return laptop.ErrInDocker
	}
	asked := c.Fence
	if asked.Sandbox == sandbox.Auto { // --sandbox alone asks about the level of a run
		asked.Sandbox = ""
	}
	around, err := asked.Around(w.World, c.ProjectDir)
	if err != nil {
		return err
	}
	room, done, err := w.Room(".", "doctor")
	if err != nil {
		return err
	}
	defer done()
	sb := sandbox.Config{Level: around.Level, Write: []string{room}}
	if sb.Level == sandbox.External {
		sb.Beyond = egress.Anywhere()
	}
	seen := doctor.LookAtSandbox(ctx, sb, w.Runner.Run)
	all.Sandbox = &seen
	return nil
}

// gaps keep a run from starting. It starts without checks, but proves nothing.
func (f found) gaps() (all []string) {
	if f.home {
		all = append(all, "the home folder (cd into a project)")
	}
	for _, finding := range slices.Concat(f.GitHub, f.Services, f.Agents) {
		if finding.Stops {
			all = append(all, finding.What)
		}
	}
	if f.sandboxed && f.Sandbox != nil && f.Sandbox.Gap != "" {
		all = append(all, "the sandbox")
	}
	return all
}

func (f found) summary() string {
	if gaps := f.gaps(); len(gaps) > 0 {
		return "Not ready: a run cannot start because of " + strings.Join(gaps, ", ") + ".\n"
	}
	if f.Checks != nil && !f.Checks.Usable {
		return "Ready, but no check can prove the work of a run.\n"
	}
	const ready = "Ready: a run can start.\n"
	switch {
	case f.GitHub != nil:
		return ready + "next: put the label ralph on an issue\n"
	case f.Checks == nil && f.Agents == nil:
		return ""
	case f.Checks == nil:
		return ready
	case f.Agents == nil:
		return "Ready: the checks can prove the work of a run.\nnext: " + f.Checks.Next() + "\n"
	}
	return ready + "next: " + f.Checks.Next() + "\n"
}

func (f found) text() string {
	var parts []string
	if f.GitHub != nil {
		parts = append(parts, doctor.Text("github", f.GitHub))
	}
	if f.Agents != nil {
		parts = append(parts, clean.LogLines(doctor.Text("agent", f.Agents)))
	}
	if f.Services != nil {
		parts = append(parts, clean.LogLines(doctor.Text("services", f.Services)))
	}
	if f.Checks != nil {
		parts = append(parts, clean.LogLines(f.Checks.Text()))
	}
	if f.Sandbox != nil && f.Agents == nil { // the user asked about it
		parts = append(parts, f.Sandbox.Text())
	} else if f.Sandbox != nil {
		parts = append(parts, f.Sandbox.Brief()+"  ralph doctor --sandbox lists the levels\n")
	}
	if text := clean.LogLines(f.summary()); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n")
}

func (c doctorCommand) onGitHub(ctx context.Context, w world, all *found) error {
	repo, err := w.repository(ctx, c.Repo, c.ProjectDir)
	if err != nil {
		return err
	}
	client, err := github.Connect(github.Access{
		Owner: repo.owner, Repo: repo.name,
		BaseURL: w.Getenv("GITHUB_API_URL"),
		Token:   repo.token,
		Retry:   w.pace,
	})
	if err != nil {
		return err
	}
	all.GitHub = doctor.GitHub{Client: client, Clone: repo.clone(), Branch: "ralph/issue-1-doctor"}.Look(ctx)
	return nil
}

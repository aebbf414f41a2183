package main

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/doctor"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/sandbox"
)

type doctorCommand struct {
	ProjectDir   string `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	Agent        string `placeholder:"NAME" help:"The agent that a run would take; the settings' own when not given."`
	AgentCommand string `placeholder:"CMD" help:"The program to run in the place of the agent's own."`
	Agents       bool   `xor:"part" help:"Look at the agents only."`
	GitHub       bool   `name:"github" xor:"part" help:"Look at the repository on GitHub only: what its token may do, and what its rules refuse."`
	Repo         string `placeholder:"OWNER/NAME" help:"The repository, if not that of GITHUB_REPOSITORY. The token is GITHUB_TOKEN or GH_TOKEN."`
	Branch       string `placeholder:"NAME" default:"ralph/issue-1-doctor" help:"The branch that work would go to."`
	Sandbox      bool   `xor:"part" help:"Look at what confines an agent only: each mechanism, and an attack from inside."`
	Level        rung   `placeholder:"LEVEL" default:"auto" help:"Put this level to the test, not the strongest that is found."`
	UID          int    `name:"uid" placeholder:"N" help:"Who is inside, where ralph is root; whoever you are when not given."`
	JSON         bool   `name:"json" help:"Print it as one JSON object."`
}

// Help gives the example.
func (doctorCommand) Help() string {
	return `Looks at what a run will need and tells what it does not find, with what to do
about it: the agents and their versions, what became of the settings' flags for
them, and what confines an agent. It fails where a run would not begin.

With --github it asks GitHub what a job's token, or yours, may do in a repository,
and changes nothing there.

Examples:

  ralph doctor
  GH_TOKEN=$(gh auth token) ralph doctor --github --repo octo/greeter`
}

func (doctorCommand) guarded() bool { return true }

// found is what there is to tell.
type found struct {
	Agents  []doctor.Agent   `json:"agents,omitempty"`
	GitHub  []doctor.Finding `json:"github,omitempty"`
	Sandbox *doctor.Sandbox  `json:"sandbox,omitempty"`
}

func (c doctorCommand) run(ctx context.Context, w world) (int, error) {
	if c.GitHub {
		return c.onGitHub(ctx, w)
	}
	var all found
	code := fault.ExitDone
	walled := c.Sandbox // somebody counts on a wall
	if !c.Sandbox {
		agents, wanted, err := c.agents(ctx, w)
		if err != nil {
			return 0, err
		}
		all.Agents, walled = agents, wanted
	}
	if !c.Agents {
		wall, err := c.wall(ctx, w)
		if err != nil {
			return 0, err
		}
		all.Sandbox = &wall
	}
	if all.gap(walled) {
		code = fault.ExitUsage
	}
	return code, all.print(w, c.JSON)
}

// agents are looked at as a run in the project would; walled tells whether it
// would put up a wall.
func (c doctorCommand) agents(ctx context.Context, w world) (agents []doctor.Agent, walled bool, err error) {
	d, done, err := local{ProjectDir: c.ProjectDir, Agent: c.Agent, AgentCommand: c.AgentCommand, DryRun: true}.open(ctx, w)
	if err != nil {
		return nil, false, err
	}
	defer done()
	level, err := d.wanted(d)
	if err != nil {
		return nil, false, err
	}
	chosen, options, err := d.options()
	if err != nil {
		return nil, false, err
	}
	look := doctor.Agents{
		Chosen: chosen, Getenv: w.env, Dir: d.ProjectDir, Run: w.runner.Run,
		Pick: func(name string) (agent.Adapter, error) {
			if name == chosen {
				return agent.Pick(name, options)
			}
			return agent.Pick(name, agent.Options{Keys: agent.KeysFrom(w.env, name, "")})
		},
	}
	return look.Look(ctx), level != sandbox.None && level != inDocker, nil
}

func (c doctorCommand) wall(ctx context.Context, w world) (doctor.Sandbox, error) {
	self, err := executable()
	if err != nil {
		return doctor.Sandbox{}, err
	}
	room, done, err := w.room("doctor")
	if err != nil {
		return doctor.Sandbox{}, err
	}
	defer done()
	wall := sandbox.Wall{Level: sandbox.Level(c.Level), Self: self, UID: c.UID, GID: c.UID, Write: []string{room}}
	if wall.Level == sandbox.External {
		wall.Beyond = egress.Anywhere()
	}
	return doctor.LookAtSandbox(ctx, wall, w.runner.Run), nil
}

// gap tells of what a run would not begin without.
func (f found) gap(walled bool) bool {
	for _, a := range f.Agents {
		if a.Chosen && a.Gap != "" {
			return true
		}
	}
	return walled && f.Sandbox != nil && !f.Sandbox.Holds
}

func (f found) print(w world, asJSON bool) error {
	if asJSON {
		return printJSON(w.stdout, f)
	}
	text, between := "", ""
	if f.GitHub != nil {
		text = doctor.GitHubText(f.GitHub)
	}
	if f.Agents != nil {
		text, between = doctor.AgentsText(f.Agents), "\n"
	}
	if f.Sandbox != nil {
		text += between + f.Sandbox.Text()
	}
	_, err := fmt.Fprint(w.stdout, text)
	return err
}

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// rescue is how long saving the work may take after Ctrl-C.
const rescue = 30 * time.Second

// noWall is said by every run until there is one.
const noWall = "sandbox level none: the agent and the checks can do whatever you can"

type runCommand struct {
	ProjectDir    string          `short:"d" default:"." type:"path" help:"The project: a git repository with ralph/prd.json."`
	Agent         string          `default:"claude" help:"The agent: ${agents}."`
	AgentCommand  string          `help:"The program to run in the place of the agent's own."`
	Model         string          `help:"The model, as the agent calls it."`
	MaxIterations int             `short:"m" aliases:"maximum-iterations" default:"${iterations}" help:"Give up after this many iterations; 0: never."`
	MaxCost       float64         `default:"${cost}" help:"Give up when this many dollars are spent; 0: never."`
	MaxTime       policy.Duration `default:"${time}" help:"Give up after this long, as 90, 90s or 2h; 0: never."`
	Check         []string        `sep:"none" help:"A command that judges the work, besides the PRD's verifyCommands. Repeatable."`
	JSON          bool            `name:"json" help:"Print the result as one JSON object."`
}

// Help gives the example.
func (runCommand) Help() string {
	return `The stories of ralph/prd.json are worked on in a tree of their own; your files stay
as they are, and the work comes to a branch.

Example: ralph run -m 5 --check "make test"`
}

func (runCommand) guarded() bool { return true }

func (c runCommand) run(ctx context.Context, w world) (int, error) {
	home, err := os.MkdirTemp("", "ralph-home-")
	if err != nil {
		return 0, fault.Usage("cannot write to the temporary folder", "set TMPDIR to one that is writable", err)
	}
	defer os.RemoveAll(home) //nolint:errcheck // an empty folder
	tool := git.Git{Run: w.runner.Run, Path: w.env("PATH"), Home: home}
	place, err := c.place(ctx, tool)
	if err != nil {
		return 0, err
	}
	asked, err := c.asked(w, place)
	if err != nil {
		return 0, err
	}
	j, err := c.job(w, tool, place)
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(w.stderr, noWall)
	outcome, err := j.Start(ctx, asked)
	if err != nil {
		return 0, err
	}
	return finish(w, c.JSON, outcome)
}

// place is the user's repository, fit to begin from.
func (c runCommand) place(ctx context.Context, tool git.Git) (git.Place, error) {
	if _, err := tool.Version(ctx); err != nil {
		return git.Place{}, err
	}
	place, err := tool.Inspect(ctx, c.ProjectDir)
	if err != nil {
		return git.Place{}, err
	}
	return place, place.Clean()
}

// asked is the run to begin, from the project's PRD.
func (c runCommand) asked(w world, place git.Place) (job.Asked, error) {
	prd := filepath.Join(c.ProjectDir, workspace.MemoryDir, "prd.json")
	data, err := os.ReadFile(prd)
	if err != nil {
		return job.Asked{}, fault.Usage("there is no "+prd, "write one, or name the project with -d", err)
	}
	stories, err := plan.Read(prd, data)
	if err != nil {
		return job.Asked{}, fault.Usage("the PRD cannot be used", "mend "+prd, err)
	}
	branch := stories.BranchName
	if branch == "" {
		branch = "ralph/" + plan.Slug(stories.Project, 40)
	}
	return job.Asked{
		ID:     "run-" + w.now().UTC().Format("20060102T150405.000"),
		Policy: c.policy(stories),
		Task:   plan.Task{Kind: plan.KindPrompt, Title: stories.Project, Body: stories.Description},
		Plan:   stories, Source: "json",
		BaseRef: place.Branch, Branch: branch, Level: "none",
	}, nil
}

func (c runCommand) policy(stories plan.Plan) policy.Policy {
	p := policy.Of(policy.Stories)
	p.Agent, p.Model = c.Agent, c.Model
	p.Publish, p.NoPull = true, true
	p.Protect = policy.Protected()
	p.Limits.Iterations, p.Limits.CostUSD, p.Limits.Run = c.MaxIterations, c.MaxCost, c.MaxTime
	p.Checks = policy.Checks(append(stories.VerifyCommands, c.Check...), policy.DefaultCheckTimeout)
	return p
}

// job gathers what the run needs, and fails before anything is spent.
func (c runCommand) job(w world, tool git.Git, place git.Place) (*job.Job, error) {
	options := agent.Options{
		Command: c.AgentCommand,
		Keys: agent.Keys{
			AnthropicAPIKey:      w.env("ANTHROPIC_API_KEY"),
			ClaudeCodeOAuthToken: w.env("CLAUDE_CODE_OAUTH_TOKEN"),
			ModelBaseURL:         w.env("ANTHROPIC_BASE_URL"),
		},
	}
	if c.Agent == "scripted" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
		options.Self, options.Script, options.Command = self, c.AgentCommand, ""
	}
	adapter, err := agent.Pick(c.Agent, options)
	if err != nil {
		return nil, err
	}
	env := agent.BaseEnv(w.env)
	if _, err := (&agent.Hand{Adapter: adapter, Env: env, Dir: place.Top}).Ready(); err != nil {
		return nil, err
	}
	desk := job.Desk{Git: tool, Place: place}
	return &job.Job{
		Folder: workspace.Folder{Path: filepath.Join(place.Top, ".ralph")},
		Exec:   w.runner.Run, Now: w.now, Git: tool, Origin: desk, Hub: desk,
		Agent: adapter, AgentEnv: env, CheckEnv: env,
		Log: func(line string) { fmt.Fprintln(w.stderr, line) }, Rescue: rescue,
	}, nil
}

// finish prints how the run ended, and gives its exit code.
func finish(w world, asJSON bool, outcome job.Outcome) (int, error) {
	run := outcome.Run
	var err error
	if asJSON {
		err = printResult(w.stdout, run, outcome.Home.Journal())
	} else if run.Head != run.Start {
		_, err = fmt.Fprintf(w.stdout, "the work is on the branch %s: git diff %s...%s\n", run.Branch, run.BaseRef, run.Branch)
	}
	return run.Stop.Reason.Status().Exit(false), err
}

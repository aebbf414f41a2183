package main

import (
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/view"
)

// rescue is how long saving the work may take after Ctrl-C.
const rescue = 30 * time.Second

// local are the flags of every loop on a laptop.
type local struct {
	ProjectDir       string           `short:"d" default:"." type:"path" placeholder:"DIR" help:"The project."`
	Agent            string           `placeholder:"NAME" help:"The agent: ${agents}; the settings' own when not given."`
	AgentCommand     string           `placeholder:"CMD" help:"The program to run in the place of the agent's own."`
	Model            string           `placeholder:"MODEL" help:"The model, as the agent calls it."`
	MaxCost          *float64         `placeholder:"USD" help:"Give up when this many dollars are spent; 0: never."`
	MaxTokens        *int64           `placeholder:"N" help:"Give up when this many tokens are used, cached or not; 0: never."`
	MaxTime          *policy.Duration `placeholder:"TIME" help:"Give up after this long, as 90, 90s or 2h; 0: never."`
	StallAfter       *int             `placeholder:"N" help:"Give up after this many iterations that look alike; 0: never."`
	IterationTimeout *policy.Duration `placeholder:"TIME" help:"End an agent that takes longer; 0: never."`
	IdleTimeout      *policy.Duration `placeholder:"TIME" help:"End an agent that prints nothing for so long; 0: never."`
	Worktree         bool             `help:"Work in a tree apart and leave the work on a branch."`
	Sandbox          level            `xor:"sandbox" placeholder:"LEVEL" help:"Confine the agent and the checks: --sandbox takes the strongest level there is, --sandbox=LEVEL that one: ${levels}, or docker for Claude Code in a Docker sandbox. Refuses where it does not hold."`
	NoSandbox        bool             `xor:"sandbox" help:"Run with nothing that confines the agent, whatever the settings say."`
	Emoji            *bool            `negatable:"" help:"Mark what is shown with emoji, or with words such as [OK]; as the terminal can when not given."`
	Timestamps       bool             `help:"Show the time before each line."`
	Notify           string           `placeholder:"CMD" help:"Run this shell command when the run has ended, with the result on its stdin."`
	JSON             bool             `name:"json" help:"Print the result as one JSON object."`
	DryRun           bool             `help:"Print the policy, the agent's command and the prompt, and run nothing."`
	Verbose          bool             `short:"V" help:"Say what is read, run and decided, with times."`
}

// again is the command that goes on with what was begun with these flags.
func (l local) again() string { return view.Resume(agent.Named(l.Agent, l.AgentCommand)) }

// limits lays the flags that are limits over those in force.
func (l local) limits(p policy.Limits) policy.Limits {
	p.CostUSD = given(l.MaxCost, p.CostUSD)
	p.Tokens = given(l.MaxTokens, p.Tokens)
	p.Run = given(l.MaxTime, p.Run)
	p.Iteration = given(l.IterationTimeout, p.Iteration)
	p.Idle = given(l.IdleTimeout, p.Idle)
	p.Stall = given(l.StallAfter, p.Stall)
	return p
}

// given is what a flag says, else what was so before.
func given[T any](flag *T, otherwise T) T {
	if flag != nil {
		return *flag
	}
	return otherwise
}

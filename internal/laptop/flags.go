package laptop

import (
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/sandbox"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// Rescue is how long saving the work may take after Ctrl-C.
const Rescue = 30 * time.Second

// Flags are the flags of every loop on a laptop.
type Flags struct {
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
	Sandbox          sandbox.Level    `type:"level" xor:"sandbox" placeholder:"LEVEL" help:"Confine the agent and the checks: --sandbox takes the strongest level there is, --sandbox=LEVEL that one: ${levels}, or docker for Claude Code in a Docker sandbox. Refuses where it does not hold."`
	NoSandbox        bool             `xor:"sandbox" help:"Run with nothing that confines the agent, whatever the settings say."`
	Emoji            *bool            `negatable:"" help:"Mark what is shown with emoji, or with words such as [OK]; as the terminal can when not given."`
	Timestamps       bool             `help:"Show the time before each line."`
	Notify           string           `placeholder:"CMD" help:"Run this shell command when the run has ended, with the result on its stdin."`
	JSON             bool             `name:"json" help:"Print the result as one JSON object."`
	DryRun           bool             `help:"Print the policy, the agent's command and the prompt, and run nothing."`
	Verbose          bool             `short:"V" help:"Say what is read, run and decided, with times."`
}

// Again is the command that goes on with what was begun with these flags.
func (l Flags) Again() string { return view.Resume(agent.Named(l.Agent, l.AgentCommand)) }

// Limited lays the flags that are limits over those in force.
func (l Flags) Limited(p policy.Limits) policy.Limits {
	p.CostUSD = Given(l.MaxCost, p.CostUSD)
	p.Tokens = Given(l.MaxTokens, p.Tokens)
	p.Run = Given(l.MaxTime, p.Run)
	p.Iteration = Given(l.IterationTimeout, p.Iteration)
	p.Idle = Given(l.IdleTimeout, p.Idle)
	p.Stall = Given(l.StallAfter, p.Stall)
	return p
}

// Given is what a flag says, else what was so before.
func Given[T any](flag *T, otherwise T) T {
	if flag != nil {
		return *flag
	}
	return otherwise
}

// Most is what dollars and counts are taken seriously up to, here as in
// settings: who wants no limit says 0.
const Most = 1e9

// Validate refuses limits that would silently be none. Kong asks for it.
func (l Flags) Validate() error {
	return errors.Join(
		Reasonable("--max-cost", l.MaxCost, Most),
		Reasonable("--max-tokens", l.MaxTokens, 1000*Most),
		Reasonable("--stall-after", l.StallAfter, Most),
	)
}

// Reasonable refuses what is below 0, too much, or no number at all.
func Reasonable[N int | int64 | float64](flag string, value *N, highest float64) error {
	if value == nil || *value >= 0 && float64(*value) <= highest {
		return nil
	}
	return fmt.Errorf("%s: %v is not from 0 to %.0f; 0 turns the limit off", flag, *value, highest)
}

// Unmark removes the marker of a run that was killed before it could.
func (l Flags) Unmark() error { return workspace.FolderAbove(l.ProjectDir).Unmark() }

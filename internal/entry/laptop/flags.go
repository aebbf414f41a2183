package laptop

import (
	"time"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// DefaultStopGrace is how long the step under way may go on after the first Ctrl-C.
const DefaultStopGrace = policy.Duration(10 * time.Second)

// Rescue is how long saving the work may take after Ctrl-C.
const Rescue = 30 * time.Second

// Flags are the flags of every loop on a laptop.
type Flags struct {
	ProjectDir   string `group:"all" short:"d" default:"." type:"folder" placeholder:"DIR" help:"Project directory (default: current directory)."`
	Agent        string `placeholder:"NAME" help:"Agent: ${agents} (default: from the settings, else the first that is installed and can log in)."`
	AgentCommand string `group:"all" placeholder:"CMD" help:"Program to run instead of the agent's own."`
	Model        string `placeholder:"MODEL" help:"Model, by the agent's name for it."`

	MaxCost    *float64         `placeholder:"USD" help:"Limit of dollars (0: no limit)."`
	MaxTokens  *int64           `group:"all" placeholder:"N" help:"Limit of tokens, cached ones included (0: no limit)."`
	MaxTime    *policy.Duration `placeholder:"TIME" help:"Time limit, such as 90s, 2h or 1d (0: no limit)."`
	StallAfter *int             `group:"all" placeholder:"N" help:"Stop after this many iterations without a change (0: never)."`

	IterationTimeout *policy.Duration `group:"all" placeholder:"TIME" help:"Time limit of one turn of the agent (0: no limit)."`
	IdleTimeout      *policy.Duration `group:"all" placeholder:"TIME" help:"End an agent that is silent for this long (0: never)."`

	Worktree  bool          `help:"Work in a separate worktree and leave the work on a branch."`
	Sandbox   sandbox.Level `group:"all" type:"level" xor:"sandbox" placeholder:"LEVEL" help:"Sandbox level: ${levels}, or docker for Claude Code in a Docker sandbox. Fails if this machine cannot provide it (default: auto)."`
	NoSandbox bool          `xor:"sandbox" help:"Run without a sandbox, even if the settings name a level."`
	Reach     `group:"all"`
	Secrecy   `group:"all"`
	JSON      bool `group:"all" name:"json" help:"Print the result as one JSON object."`
	DryRun    bool `group:"all" help:"Print the policy, the agent's command and the prompt, and run nothing."`
	Verbose   bool `group:"all" short:"V" help:"Log what ralph reads, runs and decides, with times."`
}

// Limited lays the flags that are limits over those in force.
func (l Flags) Limited(p policy.Limits) policy.Limits {
	p.CostUSD = policy.Given(l.MaxCost, p.CostUSD)
	p.Tokens = policy.Given(l.MaxTokens, p.Tokens)
	p.Run = policy.Given(l.MaxTime, p.Run)
	p.Iteration = policy.Given(l.IterationTimeout, p.Iteration)
	p.Idle = policy.Given(l.IdleTimeout, p.Idle)
	p.Stall = policy.Given(l.StallAfter, p.Stall)
	return p
}

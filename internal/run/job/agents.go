package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/agent/instructions"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// Agents are the agents that work or give opinions.
type Agents struct {
	Agent       agent.Adapter
	Attachments []attachment.File // to the issue
	AgentEnv    []string          // the base of an agent's environment
	Reviewer    *Reviewer         // gives second opinions; nil: none
	Supervised  *Supervised       // a command instead of an agent
	Watch       func(stream.Item)
}

// Reviewer is the agent that gives second opinions.
type Reviewer struct {
	Agent agent.Adapter
	Env   []string // the base of its environment
}

// agents has agents work in the tree, or answer questions about a clean checkout.
type agents struct {
	chosen  Agents
	machine *Machine
	record  *record
	repo    *repository
	tree    *agentTree
	clean   *checkout.Clean // where proofs run, too
	guide   *string         // the base's instructions for agents; nil: not read yet
}

func (a *agents) agentAt(run journal.Run, dir string) driver.Agent {
	return driver.Agent{
		Adapter:  a.chosen.Agent,
		Run:      a.tree.commandRunner(dir),
		Dir:      projectDir(run, dir),
		Inside:   a.machine.Sandbox.Inside(a.tree.access(dir), projectDir(run, dir)),
		Env:      a.machine.Sandbox.Env(a.chosen.AgentEnv, false),
		Watch:    a.chosen.Watch,
		Redact:   a.machine.Secrets.Writer,
		Upstream: a.machine.Sandbox.LastStatus,
		Timeout:  timeLeft(run, a.machine.Now(), run.Policy.Limits.Iteration.Std()),
		Idle:     run.Policy.Limits.Idle.Std(),
		Now:      a.machine.Now,
		Grace:    a.machine.Grace,
		Lend:     func(ctx context.Context, dir string) error { return a.machine.Sandbox.Lend(ctx, dir, ".") },
	}
}

// runAgent starts no agent if the model server has used the budget.
func (a *agents) runAgent(
	ctx context.Context,
	hand driver.Agent,
	order agent.Order,
	emit emit,
) (journal.AgentEnded, error) {
	models := a.machine.Sandbox
	if spent := models.Used(); spent.Stopped {
		return applyMetering(journal.AgentEnded{Failed: true}, spent, hand.Adapter.Counted), nil
	}
	defer models.Flush(emit)
	turn, end := models.Turn(ctx)
	ended, err := hand.Do(turn, order)
	end()
	if err != nil {
		return ended, err
	}
	spent := models.Used()
	ended = applyMetering(ended, spent, hand.Adapter.Counted)
	if !hand.Adapter.Counted {
		models.Charge(ended.Usage, ended.Cost)
	}
	_, isUnanswered := errors.AsType[*stream.Unanswered](context.Cause(turn))
	if models.HasRefusals() && !isUnanswered { // the key is good
		ended.Fix = ""
		ended.Denied = ""
	}
	return ended, nil
}

// applyMetering takes the usage that the model server counted. An agent that it does not count
// reports its own. If the server stopped answering, the agent failed for that reason.
func applyMetering(ended journal.AgentEnded, spent egress.Spent, isCounted bool) journal.AgentEnded {
	if isCounted {
		ended.Usage = spent.Usage
		ended.Cost = spent.Cost
		ended.Cost.Known = ended.Cost.Known || spent.Usage.Tokens() == 0
	}
	if !spent.Stopped {
		return ended
	}
	ended.Overspent = true
	if ended.Failed {
		ended.Why = "the budget of the run is used"
		ended.CannotRun = false
		ended.Fix = ""
		ended.Denied = ""
		ended.Busy = false
		ended.Until = time.Time{}
	}
	return ended
}

// timeLeft returns limit, or less if the run's time ends before. 0: no limit.
func timeLeft(run journal.Run, now time.Time, limit time.Duration) time.Duration {
	runLimit := run.Policy.Limits.Run.Std()
	if runLimit == 0 {
		return limit
	}
	elapsed := run.Elapsed() + max(now.Sub(run.Clock.Now), 0) // the clock may be set back
	left := max(runLimit-elapsed, time.Second)
	if limit == 0 || left < limit {
		return left
	}
	return limit
}

// guidance returns the base's instructions for agents. A failure to read them does not stop the work.
func (a *agents) guidance(ctx context.Context, run journal.Run) string {
	if a.guide != nil {
		return *a.guide
	}
	var source instructions.Source
	var err error
	switch {
	case run.Base == "": // no repository: agents read the files of the folder by themselves
	case a.repo.trusted != nil:
		source, err = instructions.OfCommit(ctx, a.repo.trusted.Do, run.Base)
	case a.tree.code.UserTree != nil:
		source, err = instructions.OfCommit(ctx, a.tree.code.UserTree.Do, run.Base)
	}
	if err != nil {
		a.record.log("the project's instructions for agents were not read: " + fault.Told(err))
		return ""
	}
	a.guide = new(source.Text())
	return *a.guide
}

// warnOfLimits says before the work that dollars are not bounded, unless ralph's model server counts them. Where
// nothing reports them either, their default limit does not count, another one is refused, and there has to be a
// limit of time.
func (a *agents) warnOfLimits() error {
	limits := a.record.Run().Policy.Limits
	if a.chosen.Supervised != nil || a.chosen.Agent.Counted || limits.CostUSD == 0 {
		return nil
	}
	if a.chosen.Agent.ReportsUsage && len(a.chosen.Agent.Hosts) == 0 { // it asks no model
		return nil
	}
	what := "dollars are not bounded: the requests of " + a.chosen.Agent.Name + " do not pass ralph's model server"
	if a.chosen.Agent.ReportsUsage {
		return a.record.Append(journal.Noted{
			What: what + fmt.Sprintf("; the run ends after the turn that exceeds $%.2f", limits.CostUSD),
			Hint: "give the agent a key, in the sandbox, or limit the time of a turn: agent.timeout",
		})
	}
	what += ", and it reports no usage"
	if limits.CostUSD != policy.ForPreset(policy.ByStories).Limits.CostUSD {
		fix := "leave max-cost out, and limit the time: limits.maxTime"
		return fault.Usage(what+", so max-cost cannot be enforced", fix, nil)
	}
	if limits.Run == 0 {
		return fault.Usage(what, "limit the time: limits.maxTime", nil)
	}
	return a.record.Append(journal.Noted{
		What: what,
		Hint: "limits.maxTime ends the run after " + policy.FormatDuration(limits.Run.Std()),
	})
}

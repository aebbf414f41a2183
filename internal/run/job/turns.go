package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// turns has agents work in the trees, or answer questions about a clean checkout.
type turns struct {
	*trees
	clean *checkout.Clean // where proofs run, too
	guide *string         // the base's instructions for agents; nil: not read yet
}

func (s *turns) agentAt(run journal.Run, dir string) driver.Agent {
	return driver.Agent{
		Adapter: s.Agent, Run: s.commandRunner(dir), Dir: projectDir(run, dir), Inside: s.Sandbox.Inside(s.access(dir), projectDir(run, dir)), Env: s.agentEnv(s.AgentEnv), Watch: s.Watch, Redact: s.Redact,
		Upstream: cmp.Or(s.Sandbox, s.ModelServer).LastStatus,
		Timeout:  timeLeft(run, s.Now(), run.Policy.Limits.Iteration.Std()), Idle: run.Policy.Limits.Idle.Std(), Now: s.Now, Grace: s.Grace,
		Lend: func(ctx context.Context, dir string) error { return s.Sandbox.Lend(ctx, dir, ".") },
	}
}

func (s *turns) agentEnv(env []string) []string {
	if s.ModelServer != nil {
		return environ.Direct(env)
	}
	return s.Sandbox.Env(env, false)
}

// runAgent starts no agent if the model server has used the budget.
func (s *turns) runAgent(ctx context.Context, hand driver.Agent, order agent.Order, emit emit) (journal.AgentEnded, error) {
	models := cmp.Or(s.Sandbox, s.ModelServer)
	if seen := models.Used(); seen.Stopped {
		return applyMetering(journal.AgentEnded{Failed: true}, seen, hand.Adapter.Counted), nil
	}
	turn, end := models.Turn(ctx)
	ended, err := hand.Do(turn, order)
	end()
	if err == nil {
		seen, counted := models.Used(), hand.Adapter.Counted
		if counted && s.Sandbox == nil && seen.Usage.Tokens() == 0 && !seen.Stopped && (ended.Usage.Tokens() > 0 || ended.Cost.USD > 0) {
			if counted = false; !slices.Contains(s.Run().Notes, askedElsewhere) {
				emit(askedElsewhere)
			}
		}
		ended = applyMetering(ended, seen, counted)
		if !counted {
			models.Charge(ended.Usage, ended.Cost)
		}
		_, unanswered := errors.AsType[*stream.Unanswered](context.Cause(turn))
		if models.HasRefusals() && !unanswered { // the key is good
			ended.Fix, ended.Denied = "", ""
		}
	}
	models.Flush(emit)
	return ended, err
}

// askedElsewhere is why an agent that the model server would count is believed: without a sandbox, settings of the user
// or of a company can send it to another server.
var askedElsewhere = journal.Noted{
	What: "the agent asked its model without ralph's model server, so what it reports counts",
	Hint: "remove the setting that chooses its server, or use a sandbox: `--sandbox`",
}

// applyMetering takes the usage that the model server counted. An agent that it does not count tells its own. If the
// server stopped answering, that is why the agent failed.
func applyMetering(ended journal.AgentEnded, seen egress.Spent, counted bool) journal.AgentEnded {
	if counted {
		ended.Usage, ended.Cost = seen.Usage, seen.Cost
		ended.Cost.Known = ended.Cost.Known || seen.Usage.Tokens() == 0
	}
	if !seen.Stopped {
		return ended
	}
	ended.Overspent = true
	if ended.Failed {
		ended.Why = "the budget of the run is used"
		ended.CannotRun, ended.Fix, ended.Denied, ended.Busy, ended.Until = false, "", "", false, time.Time{}
	}
	return ended
}

// timeLeft returns limit, or less if the run's time ends before. 0: no limit.
func timeLeft(run journal.Run, now time.Time, limit time.Duration) time.Duration {
	whole := run.Policy.Limits.Run.Std()
	if whole == 0 {
		return limit
	}
	gone := run.Elapsed() + max(now.Sub(run.Now), 0) // the clock may be set back
	left := max(whole-gone, time.Second)
	if limit == 0 || left < limit {
		return left
	}
	return limit
}

package job

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/driver"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
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
		Adapter:  s.Agent,
		Run:      s.commandRunner(dir),
		Dir:      projectDir(run, dir),
		Inside:   s.Sandbox.Inside(s.access(dir), projectDir(run, dir)),
		Env:      s.Sandbox.Env(s.AgentEnv, false),
		Watch:    s.Watch,
		Redact:   s.Redact,
		Upstream: s.Sandbox.LastStatus,
		Timeout:  timeLeft(run, s.Now(), run.Policy.Limits.Iteration.Std()),
		Idle:     run.Policy.Limits.Idle.Std(),
		Now:      s.Now,
		Grace:    s.Grace,
		Lend:     func(ctx context.Context, dir string) error { return s.Sandbox.Lend(ctx, dir, ".") },
	}
}

// runAgent starts no agent if the model server has used the budget.
func (s *turns) runAgent(
	ctx context.Context,
	hand driver.Agent,
	order agent.Order,
	emit emit,
) (journal.AgentEnded, error) {
	models := s.Sandbox
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

// applyMetering takes the usage that the model server counted. An agent that it does not count tells its own. If the
// server stopped answering, that is why the agent failed.
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

package verdict

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Delays, each twice the last, before a model is asked again whose server named no time.
const (
	firstRetryDelay = 30 * time.Second
	maxRetryDelay   = 15 * time.Minute
	maxModelTries   = 20
)

// modelRetryStep returns the next step after the model's server rejected the agent, which says nothing of its work:
// the same iteration is tried again.
func modelRetryStep(run journal.Run, it journal.Iteration) Step {
	if reason, why := resourceLimitReached(run); reason != "" {
		return stopSafely(run, reason, why)
	}
	if it.Paused {
		return Iterate{it.Number, it.Story}
	}
	if it.Turned > maxModelTries {
		return stopSafely(run, policy.Waiting, fmt.Sprintf("the model did not answer, %d times in a row: %s", it.Turned, it.Agent.Why))
	}
	pause := Pause{For: retryDelay(run, it), Why: it.Agent.Why}
	if limit := run.Policy.Limits.Run.Std(); limit > 0 && run.Elapsed()+pause.For >= limit {
		return stopSafely(run, policy.Waiting, fmt.Sprintf("the model takes requests again in %s, and the run's time ends before: %s",
			policy.FormatDuration(pause.For), it.Agent.Why))
	}
	return pause
}

// retryDelay returns how long to wait: until the server's time, or twice as long as last time.
func retryDelay(run journal.Run, it journal.Iteration) time.Duration {
	if it.Agent.Until.After(run.Now) {
		return it.Agent.Until.Sub(run.Now).Round(time.Second) + time.Second
	}
	wait := firstRetryDelay
	for range it.Turned - 1 {
		wait = min(2*wait, maxRetryDelay)
	}
	return wait
}

package verdict

import (
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// How long a model is left alone whose server did not say when to come back:
// longer each time, as its trouble may last, and in the end no more.
const (
	firstRetryDelay = 30 * time.Second
	maxRetryDelay   = 15 * time.Minute
	maxModelTries   = 20
)

// modelRetryStep is the next step when the model's server turned the agent away.
// Nothing can be said of its work, so it gets its turn again, in the same
// iteration, once that server may be asked.
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
			policy.Short(pause.For), it.Agent.Why))
	}
	return pause
}

// retryDelay is how long to wait: until the time that was named, or twice as long
// as the last time.
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

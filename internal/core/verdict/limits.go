package verdict

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

// budgetSpent returns which limit of money or tokens is used up, or nothing.
func budgetSpent(run journal.Run) string {
	limits := run.Policy.Limits
	switch {
	case limits.CostUSD > 0 && run.SpentUSD() >= limits.CostUSD:
		return fmt.Sprintf("$%.2f of $%.2f spent", run.Spent.CostUSD, run.Clock.Granted.CostUSD+limits.CostUSD)
	case limits.Tokens > 0 && run.SpentTokens() >= limits.Tokens:
		return fmt.Sprintf("%d of %d tokens used", run.Spent.Usage.Tokens(), run.Clock.Granted.Tokens+limits.Tokens)
	}
	return ""
}

// IsBudgetSpent reports whether nothing is left of the run's budget.
func IsBudgetSpent(run journal.Run) bool { return budgetSpent(run) != "" || run.Spent.Overspent != "" }

func limitReached(run journal.Run) (policy.Reason, string) {
	if reason, why := resourceLimitReached(run); reason != "" {
		return reason, why
	}
	limit := run.Policy.Limits.Iterations
	if limit > 0 && run.UsedIterations() >= limit {
		last := run.Clock.Granted.Iterations + limit
		return policy.MaxIterations, fmt.Sprintf("%d of %d iterations used", len(run.Iterations), last)
	}
	return noProgress(run)
}

// MayIterate reports whether the limits allow another iteration.
func MayIterate(run journal.Run) bool {
	reason, _ := limitReached(run)
	return reason == "" && isByStories(run)
}

// resourceLimitReached returns which limit of money, tokens or time is reached.
func resourceLimitReached(run journal.Run) (policy.Reason, string) {
	if spent := cmp.Or(budgetSpent(run), run.Spent.Overspent); spent != "" {
		return policy.BudgetExhausted, spent
	}
	limit := run.Policy.Limits.Run
	if limit > 0 && run.Elapsed() >= limit.Std() {
		return policy.Timeout, fmt.Sprintf("%s of %s used", policy.FormatDuration(run.Elapsed()), limit)
	}
	return "", ""
}

// overspending returns which limit a completed run has reached: some agents report their cost late.
func overspending(run journal.Run) string {
	if spent := budgetSpent(run); spent != "" {
		return "limit reached: " + spent
	}
	return ""
}

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
		why := fmt.Sprintf("the model did not answer, %d times in a row: %s", it.Turned, it.Agent.Why)
		return stopSafely(run, policy.Waiting, why)
	}
	pause := Pause{For: retryDelay(run, it), Why: it.Agent.Why}
	limit := run.Policy.Limits.Run.Std()
	if limit > 0 && run.Elapsed()+pause.For >= limit {
		why := fmt.Sprintf("the model takes requests again in %s, and the run's time ends before: %s",
			policy.FormatDuration(pause.For), it.Agent.Why)
		return stopSafely(run, policy.Waiting, why)
	}
	return pause
}

// retryDelay returns how long to wait: until the server's time, or twice as long as last time.
func retryDelay(run journal.Run, it journal.Iteration) time.Duration {
	if it.Agent.Until.After(run.Clock.Now) {
		return it.Agent.Until.Sub(run.Clock.Now).Round(time.Second) + time.Second
	}
	wait := firstRetryDelay
	for range it.Turned - 1 {
		wait = min(2*wait, maxRetryDelay)
	}
	return wait
}

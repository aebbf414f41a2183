package verdict

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// OutOfMoney reports whether the run has spent its limit.
func OutOfMoney(run journal.Run) bool {
	limit := run.Policy.Limits.CostUSD
	return limit > 0 && run.SpentUSD() >= limit
}

// OutOfTokens reports whether the run has used its tokens.
func OutOfTokens(run journal.Run) bool {
	limit := run.Policy.Limits.Tokens
	return limit > 0 && run.SpentTokens() >= limit
}

// IsBudgetSpent reports whether nothing is left of the run's budget.
func IsBudgetSpent(run journal.Run) bool {
	return OutOfMoney(run) || OutOfTokens(run) || run.Overspent != ""
}

func limitReached(run journal.Run) (policy.Reason, string) {
	limits := run.Policy.Limits
	if reason, why := resourceLimitReached(run); reason != "" {
		return reason, why
	}
	if limits.Iterations > 0 && run.UsedIterations() >= limits.Iterations {
		return policy.MaxIterations, fmt.Sprintf("%d of %d iterations used", run.UsedIterations(), limits.Iterations)
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
	limits := run.Policy.Limits
	switch {
	case OutOfMoney(run):
		return policy.BudgetExhausted, fmt.Sprintf("$%.2f of $%.2f spent", run.SpentUSD(), limits.CostUSD)
	case OutOfTokens(run):
		return policy.BudgetExhausted, fmt.Sprintf("%d of %d tokens used", run.SpentTokens(), limits.Tokens)
	case run.Overspent != "":
		return policy.BudgetExhausted, run.Overspent
	case limits.Run > 0 && run.Elapsed() >= limits.Run.Std():
		return policy.Timeout, fmt.Sprintf("%s of %s used", policy.FormatDuration(run.Elapsed()), limits.Run)
	}
	return "", ""
}

// overspending returns by how much a completed run exceeded its limit: some agents report their cost late.
func overspending(run journal.Run) string {
	limits := run.Policy.Limits
	switch {
	case limits.CostUSD > 0 && run.SpentUSD() > limits.CostUSD:
		return fmt.Sprintf("more than the limit was spent: $%.2f of $%.2f", run.SpentUSD(), limits.CostUSD)
	case limits.Tokens > 0 && run.SpentTokens() > limits.Tokens:
		return fmt.Sprintf("more than the limit was used: %d of %d tokens", run.SpentTokens(), limits.Tokens)
	}
	return ""
}

package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/proof/results"
)

// Progress returns the history of a run for .ralph/progress.md and the next prompt.
func Progress(run journal.Run) string {
	var text strings.Builder
	for _, it := range run.Iterations {
		if it.Ended != nil {
			writeIteration(&text, it)
		}
	}
	return text.String()
}

func writeIteration(text *strings.Builder, it journal.Iteration) {
	result := "FAIL"
	switch {
	case it.Ended.Green && len(it.Checks) == 0:
		result = "NO CHECKS"
	case it.Ended.Green:
		result = "PASS"
	}
	fmt.Fprintf(text, "## Iteration %d — %s\n", it.Number, result)
	if it.Agent != nil {
		cost := "unknown"
		if it.Agent.Cost.Known {
			cost = fmt.Sprintf("$%.4f", it.Agent.Cost.USD)
		}
		fmt.Fprintf(text, "- Steps: %d\n- Cost: %s\n", it.Agent.Tools, cost)
	}
	fmt.Fprintf(text, "- Duration: %s\n", policy.FormatDuration(it.Last.Sub(it.Began)))
	if len(it.Checks) > 0 {
		text.WriteString("- Checks:\n")
	}
	for _, check := range it.Checks {
		fmt.Fprintf(text, "  - %s: %s\n", check.Command, checkOutcome(check))
	}
	for _, rejected := range it.Ended.Rejected {
		fmt.Fprintf(text, "- Rejected: %s: %s\n", rejected.Claim, rejected.Why)
	}
	text.WriteString("\n")
}

// checkOutcome returns how a check ended: if it failed, with the failed tests, or else with a line of its output.
func checkOutcome(check journal.CheckEnded) string {
	if check.Passed || check.Skipped != "" {
		return pick(check.Passed, "PASS", "SKIPPED")
	}
	why := ""
	lines := results.Essential(strings.TrimSpace(check.Excerpt))
	switch {
	case check.TimedOut:
		why = "Timeout"
	case len(check.Tests.Failing()) > 0:
		why = check.Tests.FailureList()
	case len(lines) > 0:
		why = lines[len(lines)-1]
	}
	why, _ = clean.Plain(escapeSequence.ReplaceAllString(why, ""), 500) // people read this on a terminal
	return strings.TrimSuffix("FAIL — "+why, " — ")
}

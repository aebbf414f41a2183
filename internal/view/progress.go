package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// Progress is the history of a run, iteration by iteration: what the next
// iteration gets to read, and what lies in .ralph/progress.md.
func Progress(run journal.Run) string {
	var text strings.Builder
	for _, it := range run.Iterations {
		if it.Ended != nil {
			progress(&text, it)
		}
	}
	return text.String()
}

func progress(text *strings.Builder, it journal.Iteration) {
	result := "FAIL"
	switch {
	case it.Ended.Green && len(it.Checks) == 0:
		result = "NO CHECKS"
	case it.Ended.Green:
		result = "PASS"
	}
	fmt.Fprintf(text, "## Iteration %d — %s\n", it.Number, result)
	if it.Agent != nil {
		fmt.Fprintf(text, "- Steps: %d\n- Cost: %s\n", it.Agent.Tools, cents(it.Agent.Cost.USD, it.Agent.Cost.Known))
	}
	fmt.Fprintf(text, "- Duration: %s\n", policy.Short(it.Last.Sub(it.Began)))
	if len(it.Checks) > 0 {
		text.WriteString("- Checks:\n")
	}
	for _, check := range it.Checks {
		fmt.Fprintf(text, "  - %s: %s\n", check.Command, outcome(check))
	}
	for _, rejected := range it.Ended.Rejected {
		fmt.Fprintf(text, "- Rejected: %s: %s\n", rejected.Claim, rejected.Why)
	}
	text.WriteString("\n")
}

func cents(usd float64, known bool) string {
	if !known {
		return "unknown"
	}
	return fmt.Sprintf("$%.4f", usd)
}

// outcome is how a check ended, with the last line it said when it failed.
func outcome(check journal.CheckEnded) string {
	if check.Passed {
		return "PASS"
	}
	lines := strings.Split(strings.TrimSpace(check.Excerpt), "\n")
	last, _ := clean.Plain(unsequenced(lines[len(lines)-1]), 500) // people have it shown by a terminal
	if check.TimedOut {
		last = "Timeout"
	}
	return strings.TrimSuffix("FAIL — "+last, " — ")
}

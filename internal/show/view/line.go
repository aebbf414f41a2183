package view

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view/ending"
)

// appendNonEmpty appends separator and more to text, unless more is empty.
func appendNonEmpty(text, separator, more string) string {
	if more == "" {
		return text
	}
	return text + separator + more
}

// oneLine returns foreign text as one line, so that it cannot imitate a line of ralph.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func baselineText(run journal.Run, e journal.BaselineEnded) string {
	if e.Why == "" {
		return "baseline checked"
	}
	next := cmp.Or(ending.BaseRemedy(run), "only new failures block a story")
	return "baseline checked: " + oneLine(e.Why) + " – " + next
}

func checkText(run journal.Run, what string, e journal.CheckEnded) string {
	how := "passed"
	switch {
	case e.Skipped != "":
		return fmt.Sprintf("%s %s skipped: nothing in %s is changed", what, oneLine(e.Name), oneLine(e.Skipped))
	case e.TimedOut:
		how = "ran out of time"
	case e.CannotRun:
		how = fmt.Sprintf("cannot run (exit %d)", e.Exit)
	case !e.Passed:
		how = fmt.Sprintf("failed (exit %d)", e.Exit)
	}
	if !e.Passed && e.Where == journal.AtNewTests {
		how = "fails, as it should,"
	}
	where := map[journal.Where]string{
		journal.AtBase:     "at the base",
		journal.AtWork:     "in the agent's tree",
		journal.AtHead:     "on a clean checkout",
		journal.AtOldTests: "on a clean checkout with the base's tests",
		journal.AtNewTests: "without the change",
	}[e.Where]
	return fmt.Sprintf("%s %s %s %s, %s%s",
		what, oneLine(e.Name), how, where, policy.FormatDuration(e.Took()), testSummary(run, e))
}

// failActionText returns the effect of a failed check on the next prompt.
func failActionText(p policy.Policy, e journal.CheckEnded) string {
	if e.Passed || e.Skipped != "" || p.Done != policy.ByResponse {
		return ""
	}
	return map[policy.FailAction]string{
		policy.Append:  "; its output is appended to the next prompt",
		policy.Prepend: "; its output is put before the next prompt",
		policy.Replace: "; its output replaces the next prompt",
	}[cmp.Or(p.CheckNamed(e.Name).FailAction, policy.Append)]
}

// utcClock returns a time in UTC: readers can be in different time zones.
func utcClock(at time.Time) string { return at.UTC().Format("15:04:05 UTC") }

func agentText(e journal.AgentEnded) string {
	how := "agent ended"
	switch {
	case e.Busy:
		how = "no answer from the model: " + oneLine(e.Why)
	case e.Failed:
		how = "agent failed: " + oneLine(e.Why)
	}
	return fmt.Sprintf("%s, %s, %s, %s",
		how, Plural(e.Tools, "tool call"), namedCost(e.Cost.USD, e.Cost.Known), policy.FormatDuration(e.Took()))
}

func scmText(e journal.SCMEnded) string {
	switch {
	case e.Failed:
		return e.Task + " failed: " + oneLine(e.Why)
	case e.Exit != 0:
		return e.Task + ": nothing to commit"
	}
	return appendNonEmpty(e.Task, ": ", oneLine(e.Message))
}

func runBeganText(e journal.RunBegan) string {
	parts := []string{"agent " + e.Policy.Agent, "sandbox level " + e.Level}
	if n := len(e.Plan.UserStories); n > 0 {
		parts = append([]string{Plural(n, "story")}, parts...)
	}
	at := ""
	if e.Start != "" {
		at = " on " + shortSHA(e.Start)
	}
	return "run " + e.Run + at + ": " + strings.Join(parts, ", ")
}

// stopText returns the status, and the reason unless it is the same word.
func stopText(e journal.RunStopped) string {
	text := "run " + string(e.Reason.Status())
	if string(e.Reason) != string(e.Reason.Status()) {
		text += ": " + string(e.Reason)
	}
	return appendNonEmpty(text, ": ", oneLine(e.Why))
}

func deliveredText(e journal.Delivered) string {
	text := fmt.Sprintf("delivered files: %d", e.Files)
	if e.Branch != "" {
		text += ", and the commits on " + oneLine(e.Branch)
	}
	if len(e.Left) > 0 {
		names := make([]string, len(e.Left))
		for i, left := range e.Left {
			names[i] = left.Path + ", " + left.Why
		}
		text += "; not delivered: " + oneLine(strings.Join(names[:min(3, len(names))], "; "))
	}
	return text
}

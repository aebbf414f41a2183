package view

import (
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
)

// headline is the state of a run in one phrase.
func headline(run journal.Run) string {
	if run.Stop != nil {
		return ended(run)
	}
	it, open := run.Open()
	switch {
	case run.Cancel != nil:
		return "stopping, work is being saved"
	case run.Baseline == nil:
		return "looking at what the checks say before any work"
	case !open:
		return "working"
	case it.Agent == nil:
		return fmt.Sprintf("iteration %d, agent at work on %s", it.Number, it.Story)
	case it.Proof == nil && it.Taken != nil:
		return fmt.Sprintf("iteration %d, checking %s on a clean checkout", it.Number, it.Story)
	}
	return fmt.Sprintf("iteration %d, checking %s", it.Number, it.Story)
}

func ended(run journal.Run) string {
	_, proven := run.Proven()
	switch {
	case run.Stop.Reason == policy.AllStoriesPassed && proven:
		return "done, every story passed and the checks passed again on a clean checkout"
	case run.Stop.Reason == policy.AllStoriesPassed:
		return "finished, but nothing was verified"
	}
	text := reasons[run.Stop.Reason]
	if text == "" {
		text = string(run.Stop.Reason)
	}
	if run.Stop.Why != "" {
		text += ": " + clean.Inline(run.Stop.Why, 300)
	}
	return string(run.Stop.Reason.Status()) + ", " + text
}

// reasons are the stop reasons as people say them.
var reasons = map[policy.Reason]string{
	policy.MaxIterations:      "out of iterations",
	policy.BudgetExhausted:    "out of money",
	policy.Timeout:            "out of time",
	policy.Stalled:            "no progress any more",
	policy.Cancelled:          "by request",
	policy.VerificationFailed: "the checks failed on a clean checkout",
	policy.FatalError:         "something broke",
	policy.NothingToDo:        "there was nothing to do",
	policy.NeedsInput:         "a question is open",
}

// was tells what the checks said before any work, where that limits what can
// be shown.
func was(run journal.Run) string {
	switch {
	case run.Baseline == nil || run.Baseline.Why == "":
		return ""
	case run.Baseline.Usable:
		return "Before any work: " + clean.Inline(run.Baseline.Why, 500) + "."
	}
	return "**Nothing can be verified:** " + clean.Inline(run.Baseline.Why, 500) + ". The pull request will stay a draft."
}

// heard is what the newest verdict found wrong, for people.
func heard(run journal.Run) []string {
	it, found := run.Last()
	if !found {
		return nil
	}
	var said []string
	if it.Agent != nil && it.Agent.Failed {
		said = append(said, "the agent did not end well: "+clean.Inline(it.Agent.Why, 300))
	}
	for _, rejected := range it.Ended.Rejected {
		said = append(said, fmt.Sprintf("claim `%s` rejected: %s", clean.Inline(rejected.Claim, 80), clean.Inline(rejected.Why, 300)))
	}
	if it.Taken == nil {
		return said
	}
	for _, path := range it.Taken.Dropped {
		said = append(said, "protected file put back: "+clean.Inline(path, 200))
	}
	for _, finding := range it.Taken.Refused {
		said = append(said, "commits refused: "+clean.Inline(strings.TrimSpace(finding.Path+" "+finding.Why), 300))
	}
	return said
}

// next is the one thing to do now; empty while the run goes on by itself.
func next(run journal.Run) string {
	switch {
	case run.Stop == nil:
		return ""
	case run.Stop.Reason == policy.AllStoriesPassed && run.Pull != nil && run.Pull.Draft:
		return "look at the draft pull request with care; nothing turned it ready"
	case run.Stop.Reason == policy.AllStoriesPassed && run.Pull != nil:
		return "review the pull request"
	case run.Stop.Reason == policy.AllStoriesPassed:
		return ""
	}
	if run.Policy.Publish {
		return "comment `/ralph` to go on"
	}
	return "`ralph resume` goes on"
}

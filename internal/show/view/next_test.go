package view_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Next names the one way to continue a stopped run, in the place where it was started.
func TestWhatGoesOn(t *testing.T) {
	for _, c := range []struct {
		kind   plan.Kind
		policy policy.Policy
		reason policy.Reason
		want   string
	}{
		{plan.KindIssue, policy.Policy{Publish: true, SaveRun: true}, policy.Cancelled, "comment `/ralph resume` to go on"},
		{plan.KindIssue, policy.Policy{Publish: true, SaveRun: true}, policy.VerificationFailed, "commit the files that the checks need, or create them with the input `setup`; then comment `/ralph` to go on"},
		{plan.KindIssue, policy.Policy{Publish: true}, policy.Cancelled, "comment `/ralph` to go on"},
		{plan.KindPull, policy.Policy{Publish: true, NoPull: true, SaveRun: true}, policy.Stalled, "comment `/ralph resume -- <hint>`; give the agent a hint about what it is missing"},
		{plan.KindPrompt, policy.Policy{}, policy.Stalled, "continue with `ralph resume --answer \"<hint>\"`; give the agent a hint about what it is missing"},
		{plan.KindPrompt, policy.Policy{Publish: true, SaveRun: true}, policy.Cancelled, "start the same job again to go on"},
		{plan.KindPrompt, policy.Policy{Publish: true, SaveRun: true}, policy.NeedsInput, "answer in the prompt, and start the job again"},
		{plan.KindPrompt, policy.Policy{Publish: true, NoPull: true}, policy.Cancelled, "continue with `ralph resume`"},
		{plan.KindPrompt, policy.Policy{}, policy.NeedsInput, "continue with `ralph resume --answer \"…\"`"},
	} {
		run := journal.Run{Task: plan.Task{Kind: c.kind, Number: 1}, Policy: c.policy, Stop: &journal.RunStopped{Reason: c.reason}}
		if got := view.Next(run); got != c.want {
			t.Errorf("%s stopped by %s: %q, want %q", c.kind, c.reason, got, c.want)
		}
	}
}

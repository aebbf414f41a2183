package journal_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
)

func TestCompleted(t *testing.T) {
	if (journal.Run{}).IsCompleted() {
		t.Error("a run that goes on is complete")
	}
	done := []policy.Reason{
		policy.AllStoriesPassed, policy.AllChecksPassed, policy.ResponseMatched, policy.PromiseAccepted, policy.DoneFile, policy.NothingToDo,
	}
	for _, reason := range policy.Reasons() {
		run := journal.Run{Stop: &journal.RunStopped{Reason: reason}}
		if got, want := run.IsCompleted(), slices.Contains(done, reason); got != want {
			t.Errorf("%s: Completed = %v, want %v", reason, got, want)
		}
	}
}

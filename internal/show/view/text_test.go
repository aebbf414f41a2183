package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// ralph status of a loop without stories shows no stories.
func TestTextOfALoopWithoutStories(t *testing.T) {
	began := journal.RunBegan{Run: "run-1", Policy: policy.ForPreset(policy.ByTag), Task: plan.Task{Kind: plan.KindPrompt}}
	steps := []struct {
		event journal.Event
		want  string
	}{
		{began, "run-1: working\n0 iterations in 0s, cost $0.00\n"},
		{journal.IterationBegan{Number: 1}, "run-1: iteration 1, agent at work\n1 iteration in 1s, cost $0.00\n"},
		{journal.AgentEnded{Tools: 1}, "run-1: iteration 1, checking\n1 iteration in 2s, cost unknown\n"},
		{journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true}, "run-1: iteration 1, checking\n1 iteration in 3s, cost unknown\n"},
		{journal.RunStopped{Reason: policy.AllChecksPassed}, "run-1: completed, all checks passed\n1 iteration in 4s, cost unknown\nnext: review the changes\n"},
	}
	var run journal.Run
	for i, step := range steps {
		at := time.Unix(1_000_000+int64(i), 0).UTC()
		run = journal.Fold(run, journal.Entry{Seq: i + 1, At: at, Event: step.event})
		if got := view.Text(run, false); got != step.want {
			t.Errorf("after %s: %q, want %q", journal.Type(step.event), got, step.want)
		}
	}
	if strings.Contains(view.Text(run, false), "resume") {
		t.Error("a complete run is to be resumed")
	}
}

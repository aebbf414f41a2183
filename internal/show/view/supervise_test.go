package view_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// superviseTests has runs of at most two attempts, with the text of each event.
var superviseTests = []struct {
	event journal.Event
	want  string
}{
	{journal.RunBegan{Run: "r1", Policy: superviseTwice()}, "run r1: supervising sh for task t1 of project shop"},
	{journal.TaskLooked{}, ""},
	{journal.IterationBegan{Number: 1}, "Starting agent (attempt 1/2)"},
	{journal.AgentEnded{Exit: 1, Failed: true, Swept: 2}, "Active children ended: 2"},
	{journal.TaskLooked{}, ""},
	{journal.IterationEnded{Number: 1}, ""},
	{journal.Paused{MS: 1000}, "Agent failed with exit code 1, restarting (attempt 2/2)"},
	{journal.IterationBegan{Number: 2}, ""},
	{
		journal.AgentEnded{Exit: 143, Failed: true, TimedOut: true, Why: "agent timeout after 5m0s"},
		"Agent timeout after 5m0s, killing process group\nProcess group killed, treating as failure",
	},
	{journal.IterationEnded{Number: 2}, ""},
	{journal.Paused{MS: 1000}, ""},
	{
		journal.TaskSettled{Reason: policy.MaxIterations, Words: "max restarts exceeded", Failed: []string{"write to X: no"}},
		"Max restarts exceeded, stopping\ncould not write to X: no",
	},
	{journal.RunStopped{Reason: policy.MaxIterations, Why: "max restarts exceeded"}, "run stopped: max_iterations\nnext: start `ralph supervise` again"},

	{journal.Resumed{Why: "asked"}, "continuing run r1: asked"},
	{journal.IterationBegan{Number: 3}, "Starting agent (attempt 3/4)"},
	{journal.AgentEnded{Exit: 143, Failed: true, TimedOut: true, Why: "agent timeout after 5m0s"}, "Agent timeout after 5m0s, killing process group\nProcess group killed, treating as failure"},
	{journal.IterationEnded{Number: 3}, ""},
	{journal.Paused{}, "Restarting agent (attempt 4/4)"},
	{journal.IterationBegan{Number: 4}, ""},
	{journal.AgentEnded{Exit: 137, Signal: "SIGKILL", Failed: true}, ""},
	{journal.IterationEnded{Number: 4}, ""},
	{journal.Paused{}, "Agent failed with exit code 137 (SIGKILL)"},

	{journal.Resumed{Why: "asked"}, "continuing run r1: asked"},
	{journal.IterationBegan{Number: 5}, "Starting agent (attempt 5/6)"},
	{journal.AgentEnded{Failed: true, Why: "start: no memory"}, ""},
	{journal.IterationEnded{Number: 5}, ""},
	{journal.Paused{}, "Transient error: start: no memory, restarting (attempt 6/6)"},

	{journal.Resumed{Why: "asked"}, "continuing run r1: asked"},
	{journal.IterationBegan{Number: 6}, "Starting agent (attempt 6/7)"},
	{journal.AgentEnded{}, ""},
	{journal.IterationEnded{Number: 6}, ""},
	{journal.Paused{}, "Agent ended with exit code 0 and no DONE marker, restarting (attempt 7/7)"},
	{journal.IterationBegan{Number: 7}, ""},
	{journal.AgentEnded{Exit: 3, Failed: true}, ""},
	{journal.IterationEnded{Number: 7, Done: true}, "Agent failed with exit code 3, DONE marker present"},
	{journal.TaskSettled{Reason: policy.DoneFile, Words: "task completed"}, "task completed"},

	{journal.RunStopped{Reason: policy.DoneFile}, "run completed: done_file"},

	{journal.Resumed{Why: "asked"}, "continuing run r1: asked"},
	{journal.TaskSettled{Reason: policy.Waiting, Words: "asked by file"}, "Wait-without-restart signal detected: asked by file"},
	{journal.RunStopped{Reason: policy.Waiting}, "run waiting\nnext: when it no longer has to wait, start `ralph supervise` again"},

	{journal.Resumed{Why: "asked"}, "continuing run r1: asked"},
	{journal.AgentEnded{CannotRun: true, Why: "no such\nprogram"}, "Fatal error: no such program"},
	{journal.RunStopped{Reason: policy.FatalError, Why: "DONE is a directory"}, "run failed: fatal_error: DONE is a directory\nnext: fix that, then start `ralph supervise` again"},
	{journal.CancelAsked{Why: "SIGINT"}, "stopping: SIGINT"},
	{journal.RunStopped{Reason: policy.Cancelled}, "run cancelled\nnext: start `ralph supervise` again"},
}

func superviseTwice() policy.Policy {
	p := policy.ForPreset(policy.ByFile)
	p.Agent, p.Limits.Iterations, p.Limits.Iteration = "sh", 2, policy.Duration(5*time.Minute)
	p.Supervision.Project, p.Supervision.Task = "shop", "t1"
	return p
}

func TestLinesOfSupervision(t *testing.T) {
	var run journal.Run
	for i, test := range superviseTests {
		run = journal.Fold(run, journal.Entry{Seq: i + 1, Event: test.event})
		if got := view.Line(run, test.event); got != test.want {
			t.Errorf("Line(%d: %+v) = %q, want %q", i, test.event, got, test.want)
		}
	}
}

// Without a limit, the number of an attempt has no total.
func TestAttemptsWithoutALimit(t *testing.T) {
	p := superviseTwice()
	p.Limits.Iterations = 0
	run := journal.Fold(journal.Run{}, journal.Entry{Seq: 1, Event: journal.RunBegan{Run: "r1", Policy: p}})
	if got, want := view.Line(run, journal.IterationBegan{Number: 1}), "Starting agent (attempt 1)"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

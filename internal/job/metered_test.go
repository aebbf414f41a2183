package job_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// An agent used what the model server saw, where it says less. That the server
// has stopped is why it failed, no matter what its program made of that.
func TestMetered(t *testing.T) {
	const why = "the model server has ended the budget: all used"
	much, little := stream.Usage{Input: 100}, stream.Usage{Input: 1}
	dollar, cent := stream.Cost{USD: 1, Known: true}, stream.Cost{USD: 0.01, Known: true}
	soon := time.Unix(100, 0)
	for name, test := range map[string]struct {
		said journal.AgentEnded
		seen egress.Spent
		want journal.AgentEnded
	}{
		"nothing seen":      {journal.AgentEnded{Usage: little, Cost: cent}, egress.Spent{}, journal.AgentEnded{Usage: little, Cost: cent}},
		"more seen":         {journal.AgentEnded{Usage: little, Cost: cent}, egress.Spent{Usage: much, Cost: dollar}, journal.AgentEnded{Usage: much, Cost: dollar}},
		"less seen":         {journal.AgentEnded{Usage: much, Cost: dollar}, egress.Spent{Usage: little, Cost: cent}, journal.AgentEnded{Usage: much, Cost: dollar}},
		"seen, not priced":  {journal.AgentEnded{}, egress.Spent{Usage: much}, journal.AgentEnded{Usage: much}},
		"a key was refused": {journal.AgentEnded{Failed: true, CannotRun: true, Why: "401", Fix: "check the key"}, egress.Spent{Stopped: "all used"}, journal.AgentEnded{Failed: true, Overspent: true, Why: why}},
		"it was too busy": {
			journal.AgentEnded{Failed: true, Busy: true, Until: soon, Why: "429"}, egress.Spent{Stopped: "all used"}, journal.AgentEnded{Failed: true, Overspent: true, Why: why},
		},
		"it ended well": {journal.AgentEnded{Response: "done"}, egress.Spent{Stopped: "all used"}, journal.AgentEnded{Response: "done", Overspent: true}},
	} {
		if diff := cmp.Diff(test.want, job.Metered(test.said, test.seen)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

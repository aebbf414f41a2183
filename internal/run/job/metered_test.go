package job_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// What the model server counted is what an agent used, no matter what it says; one that is not counted is believed. That
// the server has stopped is why it failed, no matter what its program made of that.
func TestMetered(t *testing.T) {
	const why = "the budget of the run is used"
	much, little := stream.Usage{Input: 100}, stream.Usage{Input: 1}
	dollar, cent := stream.Cost{USD: 1, Known: true}, stream.Cost{USD: 0.01, Known: true}
	soon := time.Unix(100, 0)
	for name, test := range map[string]struct {
		said    journal.AgentEnded
		seen    egress.Spent
		counted bool
		want    journal.AgentEnded
	}{
		"not counted":      {journal.AgentEnded{Usage: little, Cost: cent}, egress.Spent{}, false, journal.AgentEnded{Usage: little, Cost: cent}},
		"more counted":     {journal.AgentEnded{Usage: little, Cost: cent}, egress.Spent{Usage: much, Cost: dollar}, true, journal.AgentEnded{Usage: much, Cost: dollar}},
		"less counted":     {journal.AgentEnded{Usage: much, Cost: dollar}, egress.Spent{Usage: little, Cost: cent}, true, journal.AgentEnded{Usage: little, Cost: cent}},
		"it asked nothing": {journal.AgentEnded{Usage: much, Cost: dollar}, egress.Spent{}, true, journal.AgentEnded{Cost: stream.Cost{Known: true}}},
		"without a price":  {journal.AgentEnded{Cost: dollar}, egress.Spent{Usage: much}, true, journal.AgentEnded{Usage: much}},
		"a key was refused": {
			journal.AgentEnded{Failed: true, CannotRun: true, Why: "401", Fix: "check the key"},
			egress.Spent{Stopped: true},
			false,
			journal.AgentEnded{Failed: true, Overspent: true, Why: why},
		},
		"it was too busy": {
			journal.AgentEnded{Failed: true, Busy: true, Until: soon, Why: "429"},
			egress.Spent{Stopped: true},
			false,
			journal.AgentEnded{Failed: true, Overspent: true, Why: why},
		},
		"it ended well": {journal.AgentEnded{Response: "done"}, egress.Spent{Stopped: true}, false, journal.AgentEnded{Response: "done", Overspent: true}},
	} {
		if diff := cmp.Diff(test.want, job.Metered(test.said, test.seen, test.counted)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

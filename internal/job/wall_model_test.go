package job_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// An agent used what the model server saw, where it says less. That the server
// has stopped is why it failed, whatever its program made of that.
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

// A field that was left out is a note: what was asked was answered, and nothing
// is to be allowed.
func TestWhatIsLeftOutIsNoRefusal(t *testing.T) {
	left := egress.Refusal{What: `field "x"`, Why: "it is not known", Sent: true}
	no := egress.Refusal{What: "model", Why: "it is not listed", Input: "allow-models: model"}
	for _, test := range []struct {
		refusal egress.Refusal
		want    journal.Event
	}{
		{left, journal.Noted{What: `field "x" of a request to the model: it is not known`}},
		{no, journal.EgressRefused{What: "model", Why: "it is not listed", Input: "allow-models: model"}},
	} {
		if diff := cmp.Diff([]journal.Event{test.want}, job.Heard(test.refusal)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Those inside may ask for the models that they were told and their helpers.
// Another agent adds its own where it asks the same server, and none elsewhere;
// one that was told nothing may ask for anything.
func TestModelsThatMayBeAskedFor(t *testing.T) {
	keys := agent.Keys{AnthropicAPIKey: "k", OpenAIAPIKey: "o"}
	claude := func(model string) job.ModelAsked { return job.ModelAsked{Agent: "claude", Name: model, Keys: keys} }
	codex := job.ModelAsked{Agent: "codex", Keys: keys}
	for _, test := range []struct {
		name   string
		agent  job.ModelAsked
		second []job.ModelAsked
		want   map[string][]string // by whose API; nil: any
	}{
		{"one", claude("claude-sonnet-4-6"), nil, map[string][]string{"anthropic": {"claude-sonnet-4-6", "claude-haiku-*"}}},
		{"none", claude(""), nil, map[string][]string{"anthropic": nil}},
		{
			"a second opinion of the same maker", claude("sonnet"),
			[]job.ModelAsked{claude("claude-opus-4-8")},
			map[string][]string{"anthropic": {"claude-sonnet-*", "claude-haiku-*", "claude-opus-4-8", "claude-haiku-*"}},
		},
		{"one that was told none", claude("sonnet"), []job.ModelAsked{claude("")}, map[string][]string{"anthropic": nil}},
		{"the agent was told none", claude(""), []job.ModelAsked{claude("sonnet")}, map[string][]string{"anthropic": nil}},
		{
			"a second opinion of another maker", claude("claude-sonnet-4-6"),
			[]job.ModelAsked{codex},
			map[string][]string{"anthropic": {"claude-sonnet-4-6", "claude-haiku-*"}, "openai": nil},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := job.Askable(append([]job.ModelAsked{test.agent}, test.second...)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

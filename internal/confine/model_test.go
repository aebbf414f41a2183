package confine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/confine"
	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/journal"
)

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
		if diff := cmp.Diff([]journal.Event{test.want}, confine.Heard(test.refusal)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// Those inside may ask for the models that they were told and their helpers.
// Another agent adds its own where it asks the same server, and none elsewhere;
// one that was told nothing may ask for anything.
func TestModelsThatMayBeAskedFor(t *testing.T) {
	keys := agent.Keys{AnthropicAPIKey: "k", OpenAIAPIKey: "o"}
	claude := func(model string) confine.Model { return confine.Model{Agent: "claude", Name: model, Keys: keys} }
	codex := confine.Model{Agent: "codex", Keys: keys}
	for _, test := range []struct {
		name   string
		agent  confine.Model
		second []confine.Model
		want   map[string][]string // by whose API; nil: any
	}{
		{"one", claude("claude-sonnet-4-6"), nil, map[string][]string{"anthropic": {"claude-sonnet-4-6", "claude-haiku-*"}}},
		{"none", claude(""), nil, map[string][]string{"anthropic": nil}},
		{
			"a second opinion of the same maker", claude("sonnet"),
			[]confine.Model{claude("claude-opus-4-8")},
			map[string][]string{"anthropic": {"claude-sonnet-*", "claude-haiku-*", "claude-opus-4-8", "claude-haiku-*"}},
		},
		{"one that was told none", claude("sonnet"), []confine.Model{claude("")}, map[string][]string{"anthropic": nil}},
		{"the agent was told none", claude(""), []confine.Model{claude("sonnet")}, map[string][]string{"anthropic": nil}},
		{
			"a second opinion of another maker", claude("claude-sonnet-4-6"),
			[]confine.Model{codex},
			map[string][]string{"anthropic": {"claude-sonnet-4-6", "claude-haiku-*"}, "openai": nil},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := confine.Askable(append([]confine.Model{test.agent}, test.second...)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

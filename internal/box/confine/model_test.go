package confine_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/testsupport/must"
)

// Each agent may ask for the models that it was told and its helpers; one that was told none may ask for any. A second
// agent changes nothing of that, also where it asks the same maker.
func TestModelsThatMayBeAskedFor(t *testing.T) {
	keys := agent.Keys{AnthropicAPIKey: "k", OpenAIAPIKey: "o"}
	claude := func(model string) confine.Model { return confine.Model{Agent: "claude", Name: model, Keys: keys} }
	codex := confine.Model{Agent: "codex", Keys: keys}
	sonnet := []string{"claude-sonnet-*", "claude-haiku-*"}
	for _, test := range []struct {
		name   string
		agents []confine.Model
		want   map[string][]string // by agent and API; nil: any
	}{
		{"one", []confine.Model{claude("claude-sonnet-4-6")}, map[string][]string{"1 anthropic": {"claude-sonnet-4-6", "claude-haiku-*"}}},
		{
			"a second opinion of the same maker",
			[]confine.Model{claude("sonnet"), claude("claude-opus-4-8")},
			map[string][]string{"1 anthropic": sonnet, "2 anthropic": {"claude-opus-4-8", "claude-haiku-*"}},
		},
		{"one that was told none", []confine.Model{claude("sonnet"), claude("")}, map[string][]string{"1 anthropic": sonnet, "2 anthropic": nil}},
		{"the agent was told none", []confine.Model{claude(""), claude("sonnet")}, map[string][]string{"1 anthropic": nil, "2 anthropic": sonnet}},
		{"a second opinion of another maker", []confine.Model{claude("sonnet"), codex}, map[string][]string{"1 anthropic": sonnet, "2 openai": nil}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := must.Get(confine.Askable(test.agents...))(t)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

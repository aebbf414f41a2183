package job_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/job"
)

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

package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// A cloud's door that takes a key is used with it; at the others a run would
// only fail, and it is said before.
func TestClouds(t *testing.T) {
	for base, want := range map[string]struct {
		bearer bool
		hint   string // of the refusal
	}{
		"":                          {},
		"https://gateway.corp/team": {},
		"https://bedrock-mantle.us-east-1.api.aws/anthropic":         {bearer: true},
		"https://Bedrock-Mantle.eu-west-1.api.aws/anthropic/":        {bearer: true},
		"https://bedrock-mantle.us-east-1.api.aws.evil.com":          {},
		"https://bedrock-runtime.us-east-1.amazonaws.com":            {hint: "bedrock-mantle.REGION"},
		"https://bedrock-runtime-fips.us-east-1.amazonaws.com/x":     {hint: "bedrock-mantle.REGION"},
		"https://us-east5-aiplatform.googleapis.com/v1":              {hint: "gateway"},
		"https://aiplatform.googleapis.com":                          {hint: "gateway"},
		"https://gateway.corp/aiplatform.googleapis.com?x=y#bedrock": {},
	} {
		keys := agent.Keys{AnthropicAPIKey: "key", ModelBaseURL: base}
		_, err := agent.Pick("claude", agent.Options{Keys: keys})
		if (err != nil) != (want.hint != "") || !strings.Contains(fault.Hint(err), want.hint) {
			t.Errorf("%q: got %v, hint %q, want %q", base, err, fault.Hint(err), want.hint)
		}
		makers, can := keys.Makers("claude", "")
		if !can || len(makers) != 1 || makers[0].Bearer != want.bearer || makers[0].Key != "key" {
			t.Errorf("%q: makers %+v, %v", base, makers, can)
		}
		inside, err := agent.Pick("claude", agent.Options{Keys: keys.ForModelServer(makers, "http://127.0.0.1:1", "token")})
		if err != nil {
			t.Fatal(err)
		}
		if timid := slices.Contains(inside.Env(agent.Order{}), "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=1"); timid != want.bearer {
			t.Errorf("%q: inside it is timid: %v", base, timid)
		}
	}
}

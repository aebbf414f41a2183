package agent_test

import (
	"slices"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
)

// Bedrock's Mantle takes its key as a bearer token, and no beta features.
func TestClouds(t *testing.T) {
	for base, mantle := range map[string]bool{
		"":                          false,
		"https://gateway.corp/team": false,
		"https://Bedrock-Mantle.eu-west-1.api.aws/anthropic/": true,
		"https://bedrock-mantle.us-east-1.api.aws.evil.com":   false,
	} {
		keys := agent.Keys{AnthropicAPIKey: "key", ModelBaseURL: base}
		makers, can := keys.Makers("claude", "")
		if !can || len(makers) != 1 || makers[0].Bearer != mantle || makers[0].Key != "key" {
			t.Errorf("%q: makers %+v, %v", base, makers, can)
		}
		inside, err := agent.Pick("claude", agent.Options{Keys: keys.ForModelServer(makers, "http://127.0.0.1:1", "token")})
		if err != nil {
			t.Fatal(err)
		}
		if timid := slices.Contains(inside.Env(agent.Order{}), "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS=1"); timid != mantle {
			t.Errorf("%q: inside it is timid: %v", base, timid)
		}
	}
}

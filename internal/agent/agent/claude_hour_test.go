package agent_test

import (
	"math"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// What Claude Code keeps in the cache for an hour is counted at its own price
// while it works.
func TestClaudeTellsOfTheHour(t *testing.T) {
	adapter, err := agent.Pick("claude", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	decoder := adapter.Decoder(agent.Order{Model: "claude-opus-5"})
	items := decoder.Line([]byte(`{"type":"assistant","message":{"id":"m","model":"claude-opus-5","content":[],"usage":{"input_tokens":0,"output_tokens":0,` +
		`"cache_creation_input_tokens":1000000,"cache_creation":{"ephemeral_1h_input_tokens":1000000}}}}`))
	for _, item := range append(items, decoder.End()...) {
		if spent, is := item.(stream.Spent); is && spent.Usage.CacheHour == 1e6 && math.Abs(spent.Cost.USD-10) < 1e-9 {
			return
		}
	}
	t.Errorf("items = %+v", items)
}

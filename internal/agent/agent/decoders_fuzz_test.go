package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// No matter what a program prints, nothing breaks, and nothing that is kept or shown
// grows beyond its bounds.

func FuzzClaude(f *testing.F) { fuzz(f, "claude") }
func FuzzCodex(f *testing.F)  { fuzz(f, "codex") }
func FuzzACP(f *testing.F)    { fuzz(f, "copilot") }

// odd lines are of one program or another: none of them may mind.
var odd = []string{
	`{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}`,
	`{"type":"result","is_error":true,"errors":["x"],"modelUsage":{"m":{"inputTokens":-1}},"total_cost_usd":1e308}`,
	`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"content":[]}]}]}}` + "\n[]\nnull\n\"",
	`{"type":"item.started","item":{"id":"1","type":"command_execution","command":"bash -lc 'a'","exit_code":null}}`,
	`{"type":"error","message":"Reconnecting... 99999999999999999999/1 (unexpected status 401 Unauthorized: no)"}`,
	`{"type":"turn.completed","usage":{"input_tokens":-1,"cached_input_tokens":9223372036854775807}}` + "\n" + `{"type":"turn.failed","error":"x"}`,
	`{"id":1,"result":{}}` + "\n" + `{"id":2,"result":{"sessionId":7}}` + "\n" + `{"id":3,"result":{"stopReason":"end_turn","usage":{"totalTokens":-1,"outputTokens":9223372036854775807}}}`,
	`{"id":1,"error":{"code":-32000}}` + "\n" + `{"id":"x","method":"session/request_permission","params":{"options":[{"kind":"reject_once"}]}}`,
	`{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","status":"completed","content":[{"content":7}],"rawOutput":"x"}}}`,
	`{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"a"}}}}`,
	`{"method":"session/update","params":{"update":{"sessionUpdate":"plan","entries":[{"content":1}]}}}`,
}

func fuzz(f *testing.F, name string) {
	f.Helper()
	for _, lines := range odd {
		f.Add(lines)
	}
	paths, err := filepath.Glob("testdata/" + name + "/*.ndjson")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	adapter, err := agent.Pick(name, agent.Options{Script: "x", Command: "x", Keys: agent.Keys{ProviderAPIKey: "k"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		decoder := adapter.Decoder(agent.Order{Model: "anthropic/claude-sonnet-4-6"})
		var items []stream.Item
		for line := range strings.Lines(text) {
			items = append(items, decoder.Line([]byte(strings.TrimSuffix(line, "\n")))...)
			if asked, is := decoder.(agent.Conversation); is {
				asked.Questions()
			}
		}
		measure(t, text, append(items, decoder.End()...))
	})
}

// measure holds items against what was printed.
func measure(t *testing.T, text string, items []stream.Item) {
	t.Helper()
	said := 0
	for _, item := range items {
		switch item := item.(type) {
		case stream.Text:
			said += len(item.Text)
		case stream.ToolEnd:
			if len(item.Output) > 17<<10 {
				t.Errorf("an output of %d bytes", len(item.Output))
			}
		case stream.ToolStart:
			if len(item.Input) > 300 || strings.Contains(item.Input, "\n") {
				t.Errorf("an input of %d bytes: %q", len(item.Input), item.Input)
			}
		case stream.Todo, stream.Progress, stream.Retry, stream.Spent, stream.Result:
		}
	}
	if said > 3*len(text) { // a byte that is no UTF-8 becomes three
		t.Errorf("%d bytes of text out of %d", said, len(text))
	}
}

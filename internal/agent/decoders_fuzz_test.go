package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/stream"
)

// No matter what a program prints, nothing breaks, and nothing that is kept or shown
// grows beyond its bounds.

func FuzzAmp(f *testing.F)      { fuzz(f, "amp") }
func FuzzClaude(f *testing.F)   { fuzz(f, "claude") }
func FuzzCodex(f *testing.F)    { fuzz(f, "codex") }
func FuzzCopilot(f *testing.F)  { fuzz(f, "copilot") }
func FuzzGemini(f *testing.F)   { fuzz(f, "gemini") }
func FuzzOpencode(f *testing.F) { fuzz(f, "opencode") }

// odd lines are of one program or another: none of them may mind.
var odd = []string{
	`{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}`,
	`{"type":"result","is_error":true,"errors":["x"],"modelUsage":{"m":{"inputTokens":-1}},"total_cost_usd":1e308}`,
	`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"content":[]}]}]}}` + "\n[]\nnull\n\"",
	`{"type":"item.started","item":{"id":"1","type":"command_execution","command":"bash -lc 'a'","exit_code":null}}`,
	`{"type":"error","message":"Reconnecting... 99999999999999999999/1 (unexpected status 401 Unauthorized: no)"}`,
	`{"type":"turn.completed","usage":{"input_tokens":-1,"cached_input_tokens":9223372036854775807}}` + "\n" + `{"type":"turn.failed","error":"x"}`,
	`{"type":"message","role":"assistant","content":"a\n","delta":true}` + "\n" + `{"type":"result","status":"error","error":{"message":"[API Error: {\"code\": 999}]"}}`,
	`{"type":"result","status":"success","stats":{"input_tokens":-9223372036854775808,"cached":1,"models":{"":{"total_tokens":1}}}}`,
	`{"type":"step_finish","part":{"reason":"stop","cost":-1e308,"tokens":{"output":9223372036854775807,"reasoning":1}}}`,
	`{"type":"tool_use","part":{"tool":"todowrite","state":{"input":{"todos":[{"content":1}]},"metadata":[]}}}`,
	`{"type":"tool.execution_complete","data":{"success":1,"result":"x"}}` + "\n" + `{"type":"result","exitCode":"0"}`,
	`{"type":"tool","id":"1","name":"Write","text":"a"}`,
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
	adapter, err := agent.Pick(name, agent.Options{Script: "x", Command: "x", Keys: agent.Keys{AmpAPIKey: "k"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		decoder := adapter.Decoder(agent.Order{Model: "anthropic/claude-sonnet-4-6"})
		var items []stream.Item
		for line := range strings.Lines(text) {
			items = append(items, decoder.Line([]byte(strings.TrimSuffix(line, "\n")))...)
			if adapter.ParseStderr != nil {
				adapter.ParseStderr(line)
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

type follower interface {
	agent.Decoder
	Follow() []stream.Item
}

// codexSessions returns a decoder of a thread of Codex, and the folder of the day's sessions.
func codexSessions(t *testing.T) (decoder follower, day string) {
	t.Helper()
	home := t.TempDir()
	day = filepath.Join(home, "sessions", "2026", "11", "21")
	adapter, err := agent.Pick("codex", agent.Options{})
	if err = errors.Join(err, os.MkdirAll(day, 0o700)); err != nil {
		t.Fatal(err)
	}
	decoder = adapter.Decoder(agent.Order{Env: []string{"CODEX_HOME=" + home}}).(follower)
	decoder.Line([]byte(`{"type":"thread.started","thread_id":"thread-7"}`))
	return decoder, day
}

// FuzzRollout has Codex's own files of a thread grow while they are read: the same is
// counted as of whole files.
func FuzzRollout(f *testing.F) {
	const meta = `{"type":"session_meta","payload":{"id":"thread-7"}}` + "\n"
	for _, lines := range []string{
		meta + `{"type":"turn_context","payload":{"model":"gpt-5"}}` + "\n" + `{"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"output_tokens":1}}}}` + "\n",
		meta + `{"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":-9223372036854775808,"cached_input_tokens":9223372036854775807}}}}` + "\n",
		meta + `{"payload":{"type":"token_count","info":null}}` + "\n" + `{"payload":["token_count"]}` + "\n" + `{"type":"turn_context","payload":{"model":7}}`,
		`{"payload":{"id":"another"}}` + "\n" + `{"payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5}}}}` + "\n",
		"thread-7\n\"token_count\"\x00\xff\n{\"token_count\"",
	} {
		f.Add(lines, uint16(len(lines)/2))
	}
	f.Fuzz(func(t *testing.T, text string, first uint16) {
		cut := min(int(first), len(text))
		usage := func(parts ...string) (used stream.Usage) {
			decoder, day := codexSessions(t)
			written := ""
			for _, part := range parts {
				written += part
				if err := os.WriteFile(filepath.Join(day, "rollout-2026-11-21T21-49-08-thread-7.jsonl"), []byte(written), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, item := range decoder.Follow() {
					used = item.(stream.Spent).Usage
				}
			}
			if used.Input < 0 || used.Output < 0 || used.CacheRead < 0 || used.CacheWrite < 0 {
				t.Errorf("a usage of %+v", used)
			}
			return used
		}
		if whole, grown := usage(text), usage(text[:cut], text[cut:]); whole != grown {
			t.Errorf("%+v is counted of a whole file, %+v of one that grew", whole, grown)
		}
	})
}

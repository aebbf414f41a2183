package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// said is a line in which a tool says something.
var said = map[string]func(output string) any{
	"claude": func(output string) any {
		block := map[string]any{"type": "tool_result", "tool_use_id": "1", "content": output}
		return map[string]any{"type": "user", "message": map[string]any{"content": []any{block}}, "tool_use_result": map[string]any{"stdout": output}}
	},
	"codex": func(output string) any {
		item := map[string]any{"id": "1", "type": "command_execution", "command": "ls", "aggregated_output": output, "exit_code": 0, "status": "completed"}
		return map[string]any{"type": "item.completed", "item": item}
	},
	"gemini": func(output string) any {
		text := map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": output}}
		update := map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed", "content": []any{text}}
		return map[string]any{"method": "session/update", "params": map[string]any{"update": update}}
	},
}

func lineOf(t *testing.T, value any) []byte {
	t.Helper()
	line, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func decoderOf(t *testing.T, name string) agent.Decoder {
	t.Helper()
	adapter, err := agent.Pick(name, agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return adapter.Decoder(agent.Order{})
}

// Of what a tool says at length the beginning is told, wherever it is cut: in
// no escape and in no character.
func TestLongOutputsBegin(t *testing.T) {
	for name, line := range said {
		for _, unit := range []string{"plain ", `"`, `\`, `\"`, "\n", "<", "é", "日本", "😀", "\x01", `\u0041`, "\ta\\\n"} {
			for pad := range 13 {
				output := strings.Repeat("x", pad) + strings.Repeat(unit, 100_000/len(unit))
				items := decoderOf(t, name).Line(lineOf(t, line(output)))
				if len(items) == 0 {
					t.Fatalf("%s told nothing of %q", name, unit)
				}
				end, is := items[len(items)-1].(stream.ToolEnd)
				if shown := strings.TrimSuffix(end.Output, "…"); !is || len(shown) < 600 || !strings.HasPrefix(output, shown) {
					t.Errorf("%s made %T %.40q of %d bytes of %q behind %d", name, items[len(items)-1], end.Output, len(output), unit, pad)
				}
			}
		}
	}
}

// An agent's own words are never cut, nor are they taken for what a tool said
// because they tell of it.
func TestLongWordsAreWhole(t *testing.T) {
	words := string(lineOf(t, said["claude"](strings.Repeat(`a "word" `, 10_000)))) + ` and "type":"command_execution" <promise>END</promise>`
	for name, value := range map[string]any{
		"claude": map[string]any{"type": "assistant", "origin": map[string]any{"type": "user"}, "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": words}}}},
		"codex":  map[string]any{"type": "item.completed", "item": map[string]any{"id": "1", "type": "agent_message", "text": words, "of": map[string]any{"type": "command_execution"}}},
	} {
		items := decoderOf(t, name).Line(lineOf(t, value))
		if text, is := items[0].(stream.Text); !is || text.Text != words {
			t.Errorf("%s made %d bytes of %d", name, len(text.Text), len(words))
		}
	}
	result := map[string]any{"type": "result", "subtype": "success", "result": words, "permission_denials": []any{map[string]any{"type": "user"}}}
	items := decoderOf(t, "claude").Line(lineOf(t, result))
	if end, is := items[0].(stream.Result); !is || end.Text != words {
		t.Errorf("a result of %d bytes became one of %d", len(words), len(end.Text))
	}
}

// What is broken at length is shown as it came.
func TestLongRubbish(t *testing.T) {
	for name, line := range said {
		whole := lineOf(t, line(strings.Repeat("a", 100_000)))
		items := decoderOf(t, name).Line(whole[:len(whole)-1])
		if len(items) != 1 {
			t.Fatalf("%s: %d items", name, len(items))
		}
		if shown, is := items[0].(stream.Progress); !is || !strings.HasPrefix(shown.Text, "{") {
			t.Errorf("%s made %T of it", name, items[0])
		}
	}
}

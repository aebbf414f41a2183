package modeltest

import (
	"net/http"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

// anthropic is the Messages API.
var anthropic = dialect{
	name:    "anthropic",
	counted: map[string]any{"input_tokens": 1200},
	whole:   anthropicWhole,
	events:  anthropicEvents,
	refusal: anthropicRefusal,
}

func anthropicWhole(t turn) any {
	message := anthropicMessage(t)
	if t.words != "" {
		message["content"] = append(message["content"].([]any), map[string]any{"type": "text", "text": t.words})
	}
	for _, call := range t.calls {
		message["content"] = append(message["content"].([]any),
			map[string]any{"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})
	}
	message["stop_reason"] = anthropicStop(t)
	message["usage"] = anthropicUsage(t.usage)
	return message
}

// anthropicMessage returns a message that has said nothing yet.
func anthropicMessage(t turn) map[string]any {
	begun := t.usage
	begun.Output = 1 // what the real one says before it knows
	return map[string]any{
		"id": "msg_" + t.id, "type": "message", "role": "assistant", "model": t.model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(begun),
	}
}

func anthropicUsage(u stream.Usage) map[string]any {
	return map[string]any{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func anthropicStop(t turn) string {
	if len(t.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func anthropicEvents(t turn) []event {
	var events []event
	tell := func(name string, data map[string]any) {
		data["type"] = name
		events = append(events, event{name, data})
	}
	tell("message_start", map[string]any{"message": anthropicMessage(t)})
	index := 0
	block := func(empty map[string]any, deltas ...map[string]any) {
		tell("content_block_start", map[string]any{"index": index, "content_block": empty})
		for _, delta := range deltas {
			tell("content_block_delta", map[string]any{"index": index, "delta": delta})
		}
		tell("content_block_stop", map[string]any{"index": index})
		index++
	}
	if t.words != "" {
		var deltas []map[string]any
		for _, piece := range pieces(t.words) {
			deltas = append(deltas, map[string]any{"type": "text_delta", "text": piece})
		}
		block(map[string]any{"type": "text", "text": ""}, deltas...)
	}
	for _, call := range t.calls {
		block(map[string]any{"type": "tool_use", "id": call.id, "name": call.name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": string(call.input)})
	}
	tell("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": anthropicStop(t), "stop_sequence": nil},
		"usage": map[string]any{"output_tokens": t.usage.Output},
	})
	tell("message_stop", map[string]any{})
	return events
}

func anthropicRefusal(a Answer, message string) any {
	kinds := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
		http.StatusTooManyRequests: "rate_limit_error", 529: "overloaded_error",
	}
	kind := kinds[a.Status]
	if kind == "" {
		kind = "api_error"
	}
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}}
}

package modeltest

import (
	"net/http"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

// responses is OpenAI's Responses API.
var responses = dialect{
	name:    "responses",
	whole:   func(t turn) any { return response(t, "completed", responseItems(t)) },
	events:  responseEvents,
	refusal: openAIRefusal,
}

func response(t turn, status string, output []any) map[string]any {
	r := map[string]any{
		"id": "resp_" + t.id, "object": "response", "created_at": 0, "status": status, "model": t.model,
		"output": output, "usage": nil,
	}
	if status == "completed" {
		r["usage"] = responseUsage(t.usage)
	}
	return r
}

// responseUsage counts as OpenAI does: what came from the cache or went into
// it is among the input.
func responseUsage(u stream.Usage) map[string]any {
	input := u.Input + u.CacheRead + u.CacheWrite
	return map[string]any{
		"input_tokens": input, "output_tokens": u.Output, "total_tokens": input + u.Output,
		"input_tokens_details":  map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"output_tokens_details": map[string]any{"reasoning_tokens": 0},
	}
}

func responseItems(t turn) []any {
	items := []any{}
	if t.words != "" {
		items = append(items, responseMessage(t, t.words))
	}
	for _, call := range t.calls {
		items = append(items, responseCall(call, true))
	}
	return items
}

func responseMessage(t turn, words string) map[string]any {
	content := []any{}
	if words != "" {
		content = append(content, map[string]any{"type": "output_text", "text": words, "annotations": []any{}})
	}
	return map[string]any{"type": "message", "id": "msg_" + t.id, "role": "assistant", "status": "completed", "content": content}
}

// responseCall returns a call, with its input or yet without.
func responseCall(call toolCall, full bool) map[string]any {
	item := map[string]any{"id": "fc_" + call.id, "call_id": call.id, "name": call.name, "status": "completed"}
	kind, field, input := "function_call", "arguments", string(call.input)
	if call.custom != "" {
		kind, field, input = "custom_tool_call", "input", call.custom
	}
	if !full {
		input = ""
	}
	item["type"], item[field] = kind, input
	return item
}

func responseEvents(t turn) []event {
	var events []event
	tell := func(name string, data map[string]any) {
		data["type"], data["sequence_number"] = name, len(events)
		events = append(events, event{name, data})
	}
	tell("response.created", map[string]any{"response": response(t, "in_progress", []any{})})
	index := 0
	item := func(empty, full map[string]any, kind string, deltas ...string) {
		tell("response.output_item.added", map[string]any{"output_index": index, "item": empty})
		for _, delta := range deltas {
			tell(kind, map[string]any{"item_id": empty["id"], "output_index": index, "content_index": 0, "delta": delta})
		}
		tell("response.output_item.done", map[string]any{"output_index": index, "item": full})
		index++
	}
	if t.words != "" {
		item(responseMessage(t, ""), responseMessage(t, t.words), "response.output_text.delta", pieces(t.words)...)
	}
	for _, call := range t.calls {
		kind, input := "response.function_call_arguments.delta", string(call.input)
		if call.custom != "" {
			kind, input = "response.custom_tool_call_input.delta", call.custom
		}
		item(responseCall(call, false), responseCall(call, true), kind, input)
	}
	tell("response.completed", map[string]any{"response": response(t, "completed", responseItems(t))})
	return events
}

// openAIRefusal returns how both of OpenAI's APIs refuse.
func openAIRefusal(a Answer, message string) any {
	kinds := map[int]string{
		http.StatusUnauthorized: "invalid_request_error", http.StatusForbidden: "permission_error",
		http.StatusTooManyRequests: "rate_limit_exceeded",
	}
	kind := kinds[a.Status]
	if kind == "" {
		kind = "server_error"
	}
	refusal := map[string]any{"message": message, "type": kind, "param": nil, "code": nil}
	return map[string]any{"error": refusal}
}

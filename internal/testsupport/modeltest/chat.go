package modeltest

import "github.com/ralph-loop/ralph/internal/core/stream"

// chat is OpenAI's Chat Completions API, which many others speak too.
var chat = dialect{
	name:    "chat",
	whole:   chatWhole,
	events:  chatEvents,
	refusal: openAIRefusal,
	ending:  "data: [DONE]\n\n",
}

func chatWhole(t turn) any {
	message := map[string]any{"role": "assistant", "content": nil}
	if t.words != "" {
		message["content"] = t.words
	}
	if len(t.calls) > 0 {
		message["tool_calls"] = chatCalls(t)
	}
	whole := chatFrame(t, "chat.completion",
		map[string]any{"index": 0, "message": message, "finish_reason": chatFinish(t)})
	whole["usage"] = chatUsage(t.usage)
	return whole
}

func chatFrame(t turn, object string, choices ...any) map[string]any {
	return map[string]any{"id": "chatcmpl-" + t.id, "object": object, "created": 0, "model": t.model, "choices": append([]any{}, choices...)}
}

func chatCalls(t turn) []any {
	var calls []any
	for i, call := range t.calls {
		calls = append(calls, map[string]any{
			"index": i, "id": call.id, "type": "function",
			"function": map[string]any{"name": call.name, "arguments": string(call.input)},
		})
	}
	return calls
}

func chatFinish(t turn) string {
	if len(t.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func chatUsage(u stream.Usage) map[string]any {
	input := u.Input + u.CacheRead + u.CacheWrite
	return map[string]any{
		"prompt_tokens": input, "completion_tokens": u.Output, "total_tokens": input + u.Output,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.CacheRead},
	}
}

func chatEvents(t turn) []event {
	var events []event
	tell := func(delta map[string]any, finish any) {
		choice := map[string]any{"index": 0, "delta": delta, "finish_reason": finish}
		events = append(events, event{data: chatFrame(t, "chat.completion.chunk", choice)})
	}
	tell(map[string]any{"role": "assistant", "content": ""}, nil)
	if t.words != "" {
		for _, piece := range pieces(t.words) {
			tell(map[string]any{"content": piece}, nil)
		}
	}
	for _, call := range chatCalls(t) {
		tell(map[string]any{"tool_calls": []any{call}}, nil)
	}
	tell(map[string]any{}, chatFinish(t))
	last := chatFrame(t, "chat.completion.chunk")
	last["usage"] = chatUsage(t.usage)
	return append(events, event{data: last})
}

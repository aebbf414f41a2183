package modeltest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

// gemini is the Gemini API.
var gemini = dialect{
	name:    "gemini",
	counted: map[string]any{"totalTokens": 1200},
	whole:   geminiWhole,
	events:  geminiEvents,
	refusal: geminiRefusal,
}

func geminiWhole(t turn) any {
	var parts []any
	if t.words != "" {
		parts = append(parts, map[string]any{"text": t.words})
	}
	for _, call := range t.calls {
		parts = append(parts, geminiCall(call))
	}
	return geminiFrame(t, "STOP", parts...)
}

func geminiCall(call toolCall) any {
	return map[string]any{"functionCall": map[string]any{"name": call.name, "args": call.input}}
}

// geminiFrame returns a whole answer, or a part of one; the last one is finished.
func geminiFrame(t turn, finish string, parts ...any) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": append([]any{}, parts...)}}
	frame := map[string]any{"candidates": []any{candidate}, "modelVersion": t.model, "responseId": t.id}
	if finish != "" {
		candidate["finishReason"] = finish
		frame["usageMetadata"] = geminiUsage(t.usage)
	}
	return frame
}

func geminiUsage(u stream.Usage) map[string]any {
	input := u.Input + u.CacheRead + u.CacheWrite
	return map[string]any{
		"promptTokenCount": input, "candidatesTokenCount": u.Output,
		"cachedContentTokenCount": u.CacheRead, "totalTokenCount": input + u.Output,
	}
}

func geminiEvents(t turn) []event {
	var events []event
	if t.words != "" {
		for _, piece := range pieces(t.words) {
			events = append(events, event{data: geminiFrame(t, "", map[string]any{"text": piece})})
		}
	}
	for _, call := range t.calls {
		events = append(events, event{data: geminiFrame(t, "", geminiCall(call))})
	}
	return append(events, event{data: geminiFrame(t, "STOP", map[string]any{"text": ""})})
}

func geminiRefusal(a Answer, message string) any {
	states := map[int]string{
		http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
		http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL",
	}
	state := states[a.Status]
	if state == "" {
		state = "UNAVAILABLE"
	}
	refusal := map[string]any{"code": a.Status, "message": message, "status": state}
	if a.RetryAfter > 0 {
		refusal["details"] = []any{map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%ds", a.RetryAfter/time.Second),
		}}
	}
	return map[string]any{"error": refusal}
}

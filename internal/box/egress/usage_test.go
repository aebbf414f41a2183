package egress_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

// data returns a stream of these events.
func data(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

const (
	msgStart = `{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":1}}}`
	msgWords = `{"type":"content_block_delta","delta":{"type":"text_delta","text":"0123456789"}}`
	msgDelta = `{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":40}}`
	msgEnd   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":50}}`
	respUse  = `{"input_tokens":100,"input_tokens_details":{"cached_tokens":30,"cache_write_tokens":20},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3}}`
)

// reads are answers and their usage.
var reads = []struct {
	name    string
	dialect egress.Dialect
	events  bool
	text    string
	used    stream.Usage
	input   bool
	output  bool
}{
	{"whole message", egress.Anthropic, false, `{"type":"message","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":50}}`, stream.Usage{Input: 10, Output: 50, CacheRead: 30, CacheWrite: 20}, true, true},
	{"cumulative: the last counts", egress.Anthropic, true, data(msgStart, msgWords, msgDelta, msgEnd), stream.Usage{Input: 10, Output: 50, CacheRead: 30, CacheWrite: 20}, true, true},
	{"input told anew", egress.Anthropic, true, data(msgStart, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":11,"cache_read_input_tokens":31,"output_tokens":5}}`), stream.Usage{Input: 11, Output: 5, CacheRead: 31, CacheWrite: 20}, true, true},
	{"cut in the words", egress.Anthropic, true, data(msgStart, strings.Replace(msgWords, "0123456789", strings.Repeat("0123456789", 60), 1)), stream.Usage{Input: 10, Output: 4, CacheRead: 30, CacheWrite: 20}, true, false},
	{"kept for an hour", egress.Anthropic, true, data(`{"type":"message_start","message":{"usage":{"input_tokens":1,"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":15},"output_tokens":1}}}`, msgEnd), stream.Usage{Input: 1, Output: 50, CacheWrite: 20, CacheHour: 15}, true, true},
	{"cut in a line", egress.Anthropic, true, data(msgStart, msgWords) + "data: " + msgEnd[:60], stream.Usage{Input: 10, Output: 1, CacheRead: 30, CacheWrite: 20}, true, false},
	{"named, with returns and comments", egress.Anthropic, true, ": hi\r\nevent: message_start\r\nid: 1\r\ndata:" + msgStart + "\r\n\r\n: ping\r\n\r\ndata:" + msgEnd + "\r\n\r\n", stream.Usage{Input: 10, Output: 50, CacheRead: 30, CacheWrite: 20}, true, true},
	{"in several lines", egress.Anthropic, true, "data: {\"type\":\ndata: \"message_start\",\ndata: \"message\":{\"usage\":{\"input_tokens\":3}}}\n\n", stream.Usage{Input: 3}, true, false},
	{"an error in the middle", egress.Anthropic, true, data(msgStart, `{"type":"error","error":{"type":"overloaded_error"},"message":"x","usage":7}`), stream.Usage{Input: 10, Output: 1, CacheRead: 30, CacheWrite: 20}, true, false},
	{"a count that is no integer", egress.Anthropic, true, data(msgStart, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5000.0}}`), stream.Usage{Input: 10, Output: 1, CacheRead: 30, CacheWrite: 20}, true, false},
	{"iterations that the sums leave out", egress.Anthropic, false, `{"usage":{"input_tokens":10,"output_tokens":5,"iterations":[{"type":"compaction","input_tokens":90,"output_tokens":40},{"type":"message","input_tokens":10,"output_tokens":5}]}}`, stream.Usage{Input: 100, Output: 45}, true, true},
	{"no usage", egress.Anthropic, true, data(`{"type":"ping"}`), stream.Usage{}, false, false},

	{"whole response", egress.OpenAI, false, `{"object":"response","output":[],"usage":` + respUse + `}`, stream.Usage{Input: 50, Output: 7, CacheRead: 30, CacheWrite: 20}, true, true},
	{"a response's events", egress.OpenAI, true, data(`{"type":"response.created","response":{"usage":null}}`, `{"type":"response.output_text.delta","delta":"0123456789"}`, `{"type":"response.completed","response":{"usage":`+respUse+`}}`), stream.Usage{Input: 50, Output: 7, CacheRead: 30, CacheWrite: 20}, true, true},
	{"a response that is cut", egress.OpenAI, true, data(`{"type":"response.created","response":{"usage":null}}`, `{"type":"response.function_call_arguments.delta","delta":"`+strings.Repeat("0123456789", 70)+`"}`), stream.Usage{Output: 4}, false, false},
	{"chat", egress.OpenAI, false, `{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":30}}}`, stream.Usage{Input: 70, Output: 7, CacheRead: 30}, true, true},
	{"thoughts in the total alone", egress.OpenAI, false, `{"choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":100,"completion_tokens":7,"total_tokens":150}}`, stream.Usage{Input: 100, Output: 50}, true, true},
	{"chat's chunks", egress.OpenAI, true, data(`{"choices":[{"delta":{"content":"0123456789"},"finish_reason":null}],"usage":null}`, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":7}}`, `[DONE]`), stream.Usage{Input: 9, Output: 7}, true, true},

	{"gemini", egress.Gemini, false, `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":30,"candidatesTokenCount":5,"thoughtsTokenCount":2,"totalTokenCount":107}}`, stream.Usage{Input: 70, Output: 7, CacheRead: 30}, true, true},
	{"gemini's thoughts in the total alone", egress.Gemini, true, data(`{"candidates":[{}],"usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":5,"totalTokenCount":125}}`), stream.Usage{Input: 100, Output: 25}, true, true},

	{"impossible counts", egress.Anthropic, false, `{"usage":{"input_tokens":-5,"output_tokens":9223372036854775807,"cache_read_input_tokens":99999999999999}}`, stream.Usage{Output: 1e12, CacheRead: 1e12}, true, true},
	{"counts that overflow", egress.OpenAI, false, `{"usage":{"input_tokens":9223372036854775807,"prompt_tokens":9223372036854775807,"input_tokens_details":{"cached_tokens":-1}}}`, stream.Usage{Input: 1e12}, true, true},
	{"an empty count", egress.Anthropic, false, `{"type":"message","usage":{}}`, stream.Usage{}, false, false},
	{"gemini's count without input", egress.Gemini, false, `{"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"candidatesTokenCount":7}}`, stream.Usage{Output: 7}, false, true},
	{"no JSON", egress.Gemini, false, `<html>`, stream.Usage{}, false, false},
}

func TestReadUsage(t *testing.T) {
	for _, test := range reads {
		for _, pieces := range [][]string{{test.text}, strings.Split(test.text, ""), halves(test.text)} {
			used, input, output := egress.ReadUsage(test.dialect, test.events, pieces...)
			if used != test.used || input != test.input || output != test.output {
				t.Errorf("%s, in %d pieces: %+v, input %v, output %v, want %+v %v %v", test.name, len(pieces), used, input, output, test.used, test.input, test.output)
			}
		}
	}
}

func halves(s string) []string { return []string{s[:len(s)/2], s[len(s)/2:]} }

// An event that is too large is skipped to its end, also one of several lines: no line in it counts as an event.
func TestHugeEvent(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		huge := "data: {\"y\":\"" + strings.Repeat("y", 17<<20) + strings.Repeat(end+`data: {"usage":{"input_tokens":999}}`, 2) + end + end
		used, _, output := egress.ReadUsage(egress.Anthropic, true, data(msgStart), huge[:20<<10], huge[20<<10:], data(msgEnd))
		if used.Input != 10 || used.Output != 50 || !output {
			t.Errorf("used %+v, output %v", used, output)
		}
	}
	whole := `{"usage":{"input_tokens":999},"y":"` + strings.Repeat("y", 17<<20) + `"}`
	if used, input, _ := egress.ReadUsage(egress.Anthropic, false, whole); input {
		t.Errorf("of too large an answer %+v was read", used)
	}
}

// FuzzReadUsage checks that the pieces of an answer do not matter, and that a
// server cannot cause impossible counts.
func FuzzReadUsage(f *testing.F) {
	for _, r := range reads {
		f.Add(r.text, len(r.text)/3, r.events)
	}
	f.Fuzz(func(t *testing.T, text string, at int, events bool) {
		if at < 0 || at > len(text) {
			return
		}
		for _, d := range []egress.Dialect{egress.Anthropic, egress.OpenAI, egress.Gemini} {
			whole, input, output := egress.ReadUsage(d, events, text)
			cut, inputCut, outputCut := egress.ReadUsage(d, events, text[:at], text[at:])
			if whole != cut || input != inputCut || output != outputCut {
				t.Errorf("%s: %+v, cut at %d %+v", d, whole, at, cut)
			}
			for _, n := range []int64{whole.Input, whole.Output, whole.CacheRead, whole.CacheWrite} {
				if n < 0 || n > 1e12 {
					t.Errorf("%s: %+v", d, whole)
				}
			}
		}
	})
}

package egress

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/ralph-loop/ralph/internal/stream"
)

type count struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Kept       kept  `json:"cache_creation"`

	Prompt     int64   `json:"prompt_tokens"`
	Completion int64   `json:"completion_tokens"`
	Details    details `json:"input_tokens_details"`
	PromptOf   details `json:"prompt_tokens_details"`
}

type kept struct {
	Hour int64 `json:"ephemeral_1h_input_tokens"`
}

type details struct {
	Cached  int64 `json:"cached_tokens"`
	Written int64 `json:"cache_write_tokens"`
}

// geminiCount: thoughts are billed as output, and with some models are in the total alone.
type geminiCount struct {
	Prompt     int64 `json:"promptTokenCount"`
	Tools      int64 `json:"toolUsePromptTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Total      int64 `json:"totalTokenCount"`
}

// plain counts each token once: OpenAI includes cached tokens in the input, Anthropic does not.
func (c count) plain(d Dialect) stream.Usage {
	if d == Anthropic {
		return stream.Usage{Input: c.Input, Output: c.Output, CacheRead: c.CacheRead, CacheWrite: c.CacheWrite, CacheHour: c.Kept.Hour}.Plausible()
	}
	read := addCounts(c.Details.Cached, c.PromptOf.Cached)
	written := addCounts(c.Details.Written, c.PromptOf.Written)
	return stream.Usage{
		Input: addCounts(c.Input, c.Prompt) - read - written, Output: addCounts(c.Output, c.Completion), CacheRead: read, CacheWrite: written,
	}.Plausible()
}

func (c geminiCount) plain() stream.Usage {
	input, cached := addCounts(c.Prompt, c.Tools), addCounts(c.Cached)
	return stream.Usage{
		Input:     input - cached,
		Output:    max(addCounts(c.Candidates, c.Thoughts), addCounts(c.Total)-input),
		CacheRead: cached,
	}.Plausible()
}

func addCounts(counts ...int64) int64 {
	var all int64
	for _, c := range counts {
		all = min(all+min(max(c, 0), stream.MostTokens), stream.MostTokens)
	}
	return all
}

type frame struct {
	Type    string          `json:"type"`
	Usage   json.RawMessage `json:"usage"`
	Delta   json.RawMessage `json:"delta"`
	Message struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	Response struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"response"`
	Choices []struct {
		Delta  json.RawMessage `json:"delta"`
		Finish string          `json:"finish_reason"`
	} `json:"choices"`
	Candidates []struct {
		Index  int    `json:"index"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Metadata *geminiCount `json:"usageMetadata"`
}

type reading struct {
	dialect  Dialect
	answers  int64        // versions that were asked for
	told     stream.Usage // by the maker
	known    bool         // that anything was told
	said     int64        // bytes of the answer's own words
	finished map[int]bool // Gemini's versions that have ended, by their index
	ended    bool         // its last count is told
}

// bytesPerToken is low, so that estimates do not exceed the bill.
const bytesPerToken = 5

const tokensPerSecond = 100

// take reads a frame as far as it is JSON of the expected types.
func (r *reading) take(data []byte) {
	var f frame
	err := json.Unmarshal(data, &f)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !odd {
		return
	}
	for _, usage := range []json.RawMessage{f.Message.Usage, f.Response.Usage, f.Usage} {
		r.count(usage)
	}
	if f.Metadata != nil {
		r.told, r.known = f.Metadata.plain(), true
	}
	r.said += spokenText(f.Delta)
	for _, c := range f.Choices {
		r.said += spokenText(c.Delta)
	}
	r.ended = r.ended || r.last(f)
}

// count takes a maker's count. Output tokens are sums: the last one counts.
func (r *reading) count(usage json.RawMessage) {
	if !isGiven(usage) {
		return
	}
	var c count
	if json.Unmarshal(usage, &c) != nil {
		return
	}
	now := c.plain(r.dialect)
	if r.dialect == Anthropic {
		now = stream.Usage{
			Input: cmp.Or(now.Input, r.told.Input), Output: cmp.Or(now.Output, r.told.Output),
			CacheRead: cmp.Or(now.CacheRead, r.told.CacheRead), CacheWrite: cmp.Or(now.CacheWrite, r.told.CacheWrite),
			CacheHour: cmp.Or(now.CacheHour, r.told.CacheHour),
		}
	}
	r.told, r.known = now, true
}

func isGiven(usage json.RawMessage) bool { return len(usage) > 0 && string(usage) != "null" }

func (r *reading) last(f frame) bool {
	switch f.Type {
	case "message_stop", "response.completed", "response.incomplete", "response.failed":
		return true
	case "message_delta":
		var stop struct {
			Reason string `json:"stop_reason"`
		}
		return json.Unmarshal(f.Delta, &stop) == nil && stop.Reason != ""
	}
	for _, c := range f.Candidates {
		if c.Finish != "" {
			if r.finished == nil {
				r.finished = map[int]bool{}
			}
			r.finished[c.Index] = true
		}
	}
	if n := int64(len(r.finished)); n > 0 && n >= r.answers {
		return true
	}
	return r.dialect == OpenAI && len(f.Choices) == 0 && isGiven(f.Usage)
}

// sofar estimates the usage while an answer is under way.
func (r *reading) sofar() progress {
	p := progress{Usage: r.told, ended: r.ended}
	p.told = p.Tokens() > p.Output
	if !r.ended {
		p.Output = max(p.Output, r.said/bytesPerToken)
	}
	return p
}

// spokenText is how many bytes of the model's words are in a delta.
func spokenText(delta json.RawMessage) int64 {
	if len(delta) == 0 {
		return 0
	}
	var value any
	if json.Unmarshal(delta, &value) != nil {
		return 0
	}
	return modalityCount("", value)
}

// modalityCount counts the texts of the fields in which models speak.
func modalityCount(field string, value any) int64 {
	var all int64
	switch value := value.(type) {
	case string:
		if field == "" || voices[field] {
			all = int64(len(value))
		}
	case map[string]any:
		for name, inner := range value {
			all += modalityCount(cmp.Or(name, "-"), inner)
		}
	case []any:
		for _, inner := range value {
			all += modalityCount("-", inner)
		}
	}
	return all
}

var voices = set("text", "thinking", "partial_json", "content", "reasoning", "reasoning_content", "refusal", "arguments", "input")

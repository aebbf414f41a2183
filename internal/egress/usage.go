package egress

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

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
	Total      int64   `json:"total_tokens"` // some servers have thoughts in it alone
	Details    details `json:"input_tokens_details"`
	PromptOf   details `json:"prompt_tokens_details"`

	Iterations []count `json:"iterations"` // of Anthropic: the counts above leave some of them out
}

type kept struct {
	Hour int64 `json:"ephemeral_1h_input_tokens"`
}

type details struct {
	Cached  int64 `json:"cached_tokens"`
	Written int64 `json:"cache_write_tokens"`
}

// geminiCount is Gemini's count. Thoughts are billed as output; some models include them only in the total.
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
		var all stream.Usage
		for _, one := range c.Iterations {
			all = all.Plus(one.plain(d)).Plausible()
		}
		return stream.Usage{Input: c.Input, Output: c.Output, CacheRead: c.CacheRead, CacheWrite: c.CacheWrite, CacheHour: c.Kept.Hour}.Plausible().Max(all)
	}
	read := addCounts(c.Details.Cached, c.PromptOf.Cached)
	written := addCounts(c.Details.Written, c.PromptOf.Written)
	input := addCounts(c.Input, c.Prompt)
	output := max(addCounts(c.Output, c.Completion), addCounts(c.Total)-input)
	return stream.Usage{Input: input - read - written, Output: output, CacheRead: read, CacheWrite: written}.Plausible()
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
	Choices    []version       `json:"choices"`    // of OpenAI
	Candidates []version       `json:"candidates"` // of Gemini
	Metadata   json.RawMessage `json:"usageMetadata"`
}

type version struct {
	Index   int             `json:"index"`
	Delta   json.RawMessage `json:"delta"`
	Content json.RawMessage `json:"content"`
	Finish  string          `json:"finishReason"`
}

type reading struct {
	dialect   Dialect
	answers   int64        // requested versions
	usage     stream.Usage // the maker's count
	known     bool         // usage is known
	odd       bool         // a count could not be read
	textBytes int64        // bytes of the answer's text
	finished  map[int]bool // indexes of Gemini's versions that have ended
	ended     bool         // usage is final
	goesOn    bool         // there were words behind the end
}

// bytesPerToken is low, so that estimates do not exceed the bill.
const bytesPerToken = 5

// tokensPerSecond is what the fastest model of a maker that stops cut answers writes.
const tokensPerSecond = 1000

// take reads the parts of a frame that are JSON of the expected types.
func (r *reading) take(data []byte) {
	err := checkSize(data, maxAnswerValues, jsontext.AllowDuplicateNames(true)) // which would end its count
	if errors.Is(err, errMany) || errors.Is(err, errDeep) {
		r.odd, r.known = true, false
	}
	if err != nil {
		return
	}
	var f frame
	_ = json.Unmarshal(data, &f) // fields of other types are left out
	for _, usage := range []json.RawMessage{f.Message.Usage, f.Response.Usage, f.Usage} {
		r.count(usage)
	}
	if isGiven(f.Metadata) {
		var c geminiCount
		r.odd = json.Unmarshal(f.Metadata, &c) != nil || r.odd
		r.usage, r.known = c.plain(), !r.odd && addCounts(c.Prompt, c.Tools) > 0
	}
	words := textLength(f.Delta)
	for _, c := range slices.Concat(f.Choices, f.Candidates) {
		words += textLength(c.Delta) + textLength(c.Content)
	}
	r.textBytes += words
	r.goesOn = r.goesOn || r.ended && words > 0
	r.ended = r.ended || r.last(f)
}

// count reads a maker's count: none if it has no input. Output tokens are totals so far: the last one counts.
func (r *reading) count(usage json.RawMessage) {
	if !isGiven(usage) {
		return
	}
	var c count
	if json.Unmarshal(usage, &c) != nil {
		r.odd = true
	}
	now := c.plain(r.dialect)
	if r.dialect == Anthropic {
		now = stream.Usage{
			Input: cmp.Or(now.Input, r.usage.Input), Output: cmp.Or(now.Output, r.usage.Output),
			CacheRead: cmp.Or(now.CacheRead, r.usage.CacheRead), CacheWrite: cmp.Or(now.CacheWrite, r.usage.CacheWrite),
			CacheHour: cmp.Or(now.CacheHour, r.usage.CacheHour),
		}
	}
	r.usage, r.known = now, !r.odd && now.Tokens() > now.Output
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
	p := progress{Usage: r.usage, ended: r.ended && !r.goesOn}
	p.inputKnown = p.Tokens() > p.Output
	if !p.ended {
		p.Output = max(p.Output, r.textBytes/bytesPerToken)
	}
	return p
}

// textLength returns the size of the model's text in a delta.
func textLength(delta json.RawMessage) int64 {
	var value any
	_ = json.Unmarshal(delta, &value) // anything but JSON has no text
	return countText("", value)
}

// countText returns the size of the texts in textFields.
func countText(field string, value any) int64 {
	var all int64
	switch value := value.(type) {
	case string:
		if field == "" || textFields[field] {
			all = int64(len(value))
		}
	case map[string]any:
		for name, inner := range value {
			all += countText(cmp.Or(name, "-"), inner)
		}
	case []any:
		for _, inner := range value {
			all += countText("-", inner)
		}
	}
	return all
}

var textFields = set("text", "thinking", "partial_json", "content", "reasoning", "reasoning_content", "refusal", "arguments", "input")

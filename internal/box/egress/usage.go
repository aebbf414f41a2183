package egress

import (
	"cmp"
	"encoding/json"

	"github.com/ralph-loop/ralph/internal/core/stream"
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
		sums := stream.Usage{
			Input:      c.Input,
			Output:     c.Output,
			CacheRead:  c.CacheRead,
			CacheWrite: c.CacheWrite,
			CacheHour:  c.Kept.Hour,
		}
		return sums.Plausible().Max(all)
	}
	read := addCounts(c.Details.Cached, c.PromptOf.Cached)
	written := addCounts(c.Details.Written, c.PromptOf.Written)
	input := addCounts(c.Input, c.Prompt)
	output := max(addCounts(c.Output, c.Completion), addCounts(c.Total)-input)
	return stream.Usage{
		Input:      input - read - written,
		Output:     output,
		CacheRead:  read,
		CacheWrite: written,
	}.Plausible()
}

func (c geminiCount) plain() stream.Usage {
	input := addCounts(c.Prompt, c.Tools)
	cached := addCounts(c.Cached)
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
	Usage   json.RawMessage `json:"usage"`
	Message struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	Response struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"response"`
	Metadata json.RawMessage `json:"usageMetadata"` // of Gemini
}

// reading is the usage of an answer, as far as it has come.
type reading struct {
	dialect Dialect
	usage   stream.Usage // the provider's count
	output  bool         // it includes the output
	bytes   int64        // of the frames
}

// These are the likely bytes of a token. They are many, so that estimates do not exceed the bill.
const (
	bytesPerToken      = 5
	bytesPerMediaToken = 50
	bytesPerFrameToken = 200 // in a stream
)

// take reads the parts of a frame that are JSON of the expected types.
func (r *reading) take(data []byte) {
	r.bytes += int64(len(data))
	var f frame
	_ = json.Unmarshal(data, &f) // fields of other types are left out
	r.count(f.Message.Usage, false)
	r.count(f.Response.Usage, true)
	r.count(f.Usage, true)
	var c geminiCount
	if isGiven(f.Metadata) && json.Unmarshal(f.Metadata, &c) == nil {
		r.usage, r.output = c.plain(), true
	}
}

// count reads a provider's count of the tokens so far: the last one counts. One that cannot be read does not count.
func (r *reading) count(usage json.RawMessage, output bool) {
	var c count
	if !isGiven(usage) || json.Unmarshal(usage, &c) != nil {
		return
	}
	now := c.plain(r.dialect)
	if now == (stream.Usage{}) {
		return
	}
	if r.dialect == Anthropic { // leaves out at the end what it has reported at the beginning
		now = stream.Usage{
			Input:      cmp.Or(now.Input, r.usage.Input),
			Output:     cmp.Or(now.Output, r.usage.Output),
			CacheRead:  cmp.Or(now.CacheRead, r.usage.CacheRead),
			CacheWrite: cmp.Or(now.CacheWrite, r.usage.CacheWrite),
			CacheHour:  cmp.Or(now.CacheHour, r.usage.CacheHour),
		}
	}
	r.usage, r.output = now, output
}

func isGiven(usage json.RawMessage) bool { return len(usage) > 0 && string(usage) != "null" }

// hasInput reports whether the provider has counted the input.
func (r *reading) hasInput() bool { return r.usage.Tokens() > r.usage.Output }

// sofar estimates the output of an answer where the provider has not counted it yet.
func (r *reading) sofar() stream.Usage {
	now := r.usage
	if !r.output {
		now.Output = max(now.Output, r.bytes/bytesPerFrameToken)
	}
	return now
}

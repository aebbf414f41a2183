package egress

import (
	"cmp"
	"encoding/json"
)

type costBound struct {
	model  string
	likely int64 // likely input tokens
	input  int64 // maximum input tokens
	output int64 // maximum output tokens
	hour   bool  // the maker may cache input for an hour, at twice its price
	many   bool  // the answer has several versions
}

// These bound the tokens that the length of a body does not show. A token of text
// has at least a byte, but an image is billed by its pixels, and documents, sound
// and video by pages or seconds, up to a model's limit. Makers add their own
// instructions for tools.
const (
	addedTokens        = 2_000
	likelyImage        = 1_000
	mostMedia          = 1_000_000
	bytesPerMediaToken = 50
)

// These are the longest input and answer of a model on the price list, and the most versions of an answer
// that a maker writes.
const (
	maxModelInput  = 1_050_000
	maxModelAnswer = 128_000
	maxVersions    = 128
)

func (c *call) worstCost() costBound {
	if c.path.free {
		return costBound{model: c.model}
	}
	words := int64(len(c.body)) - c.media.size
	return costBound{
		model: c.model, likely: min(words/bytesPerToken+c.media.likely, maxModelInput), input: min(words+c.media.most+addedTokens, maxModelInput),
		output: c.most, hour: c.hour, many: c.answers > 1,
	}
}

// answerLimits are the fields that limit an answer, and the field for several answers.
type answerLimits struct {
	within []string // the objects with these fields; empty: the top level
	most   []string
	many   []string
}

func (c *call) bound() answerLimits {
	switch {
	case c.path.whole: // compaction has no field for it, and servers may skip one
		return answerLimits{}
	case c.dialect == Gemini:
		return answerLimits{
			within: []string{"generationConfig", "generation_config"},
			most:   []string{"maxOutputTokens", "max_output_tokens"}, many: []string{"candidateCount", "candidate_count"},
		}
	case c.dialect == OpenAI && c.where == completions:
		return answerLimits{most: []string{"max_tokens", "max_completion_tokens"}, many: []string{"n"}}
	case c.dialect == OpenAI:
		return answerLimits{most: []string{"max_output_tokens"}}
	default:
		return answerLimits{most: []string{"max_tokens"}}
	}
}

// maxAnswer returns the maximum tokens of all versions of an answer, and the number of versions.
func (c *call) maxAnswer(tree map[string]any) (most, many int64) {
	b := c.bound()
	var trees []map[string]any
	for _, name := range b.within {
		inner, _ := tree[name].(map[string]any)
		trees = append(trees, inner)
	}
	if len(b.within) == 0 {
		trees = append(trees, tree)
	}
	for _, tree := range trees {
		most, many = max(most, largestValue(tree, b.most, maxModelAnswer)), max(many, largestValue(tree, b.many, maxVersions))
	}
	if c.dialect == Anthropic && c.maker.isOwn() && tree["max_tokens"] == json.Number("0") { // it only fills the cache
		return 0, 1
	}
	most, many = cmp.Or(most, maxModelAnswer), max(many, 1)
	return most * many, many
}

// largestValue returns the largest value of some fields, up to a limit, or 0 if there are none. An odd value counts
// as the limit: servers differ.
func largestValue(tree map[string]any, fields []string, limit int64) (most int64) {
	for _, name := range fields {
		if tree[name] == nil {
			continue
		}
		n, _ := tree[name].(json.Number)
		value, err := n.Int64()
		if err != nil || value < 1 {
			value = limit
		}
		most = max(most, min(value, limit))
	}
	return most
}

// completions is the endpoint of OpenAI's API that reports usage only on request.
const completions = "/v1/chat/completions"

// addedFields returns fields to add to a body, so that the maker stores no answer, takes no tier that the account has as
// its default, and reports the usage of a stream.
func (c *call) addedFields(tree map[string]any) (map[string]string, *Refusal) {
	add := map[string]string{}
	keeps := c.path.keeps && (!c.path.makerOnly || c.maker.isOwn())
	if kept := tree["store"]; kept != false && (kept != nil || keeps) {
		add["store"] = "false"
	}
	if c.dialect == OpenAI && c.maker.isOwn() && tree["service_tier"] == nil {
		add["service_tier"] = `"default"`
	}
	if tree["stream"] != true || c.where != completions || c.m.Budget == (Budget{}) {
		return add, nil
	}
	options, is := tree["stream_options"].(map[string]any)
	switch {
	case tree["stream_options"] == nil:
		add["stream_options"] = `{"include_usage":true}`
	case !is || options["include_usage"] != true:
		return nil, &Refusal{What: "stream_options", Why: "without include_usage the cost of the answer is unknown"}
	}
	return add, nil
}

package egress

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/ralph-loop/ralph/internal/price"
)

type costBound struct {
	maker  price.Maker // whose prices hold; empty: unknown
	model  string
	likely int64 // of input
	input  int64 // at the most
	output int64 // at the most
	hour   bool  // input may be kept for an hour, at twice its price
}

// What a body does not show of its input: no token of text is shorter than a
// byte, but an image is billed by its size in pixels, and a document, a sound or a
// film by its pages or seconds, so up to all that a model takes. The makers add
// instructions of their own for tools.
const (
	addedTokens        = 2_000
	likelyImage        = 1_000
	mostImage          = 10_000
	mostMedia          = 1_000_000
	bytesPerMediaToken = 50
)

// longestAnswer is the most that any model on the price list answers.
const longestAnswer = 128_000

func (c *call) worstCost() costBound {
	if c.path.free {
		return costBound{maker: c.maker.seller(), model: c.model}
	}
	words := int64(len(c.body)) - c.media.size
	return costBound{
		maker: c.maker.seller(), model: c.model, likely: words/bytesPerToken + c.media.likely, input: words + c.media.most + addedTokens,
		output: c.most, hour: c.hour,
	}
}

// answerLimits are the fields that limit an answer, and the field for several answers.
type answerLimits struct {
	within []string // the objects that they are in; none: they are on top
	most   []string
	many   []string
}

func (c *call) bound() answerLimits {
	switch {
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

// maxAnswer is how many tokens an answer may have, in how many versions.
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
		most, many = max(most, largestValue(tree, b.most)), max(many, largestValue(tree, b.many))
	}
	if most, many = cmp.Or(most, longestAnswer), max(many, 1); most > math.MaxInt32/many {
		most = math.MaxInt32 / many
	}
	return most * many, many
}

// largestValue is 0 without such a field, and no limit for odd values: servers differ.
func largestValue(tree map[string]any, fields []string) (most int64) {
	for _, name := range fields {
		if tree[name] == nil {
			continue
		}
		n, _ := tree[name].(json.Number)
		said, err := n.Int64()
		if err != nil || said < 1 {
			said = math.MaxInt32
		}
		most = max(most, min(said, math.MaxInt32))
	}
	return most
}

// completions is where OpenAI's API says what was used only to those who ask.
const completions = "/v1/chat/completions"

// addedFields are the fields that a body gets: the maker keeps no answer, and a stream reports its usage.
func (c *call) addedFields(tree map[string]any) (map[string]string, *Refusal) {
	add := map[string]string{}
	if kept := tree["store"]; !c.m.Open && kept != false && (kept != nil || c.path.keeps) {
		add["store"] = "false"
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

package egress

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/ralph-loop/ralph/internal/price"
)

// order is what a request may come to before anything is told of it.
type order struct {
	model string
	whole bool // it comes in one piece: what it costs is known when nothing can be done about it
	most  price.Tokens
}

func (o order) tokens() int64 { return o.most.Input + o.most.Output }

func (c *call) order() order {
	return order{model: c.model, whole: c.whole && !c.path.free, most: price.Tokens{Input: int64(len(c.body)) / bytesPerToken, Output: c.most}}
}

// longest is how many tokens an answer may have, by what was asked; where
// nothing was said it is what no model gives.
func longest(tree map[string]any) int64 {
	for _, name := range []string{"generationConfig", "generation_config"} {
		if inner, is := tree[name].(map[string]any); is {
			tree = inner
		}
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"} {
		if n, is := tree[name].(json.Number); is {
			if most, err := n.Int64(); err == nil && most > 0 {
				return most
			}
		}
	}
	return math.MaxInt32
}

// countable has a stream say what it used, where its API says so only to those
// who ask.
func (c *call) countable(tree map[string]any) bool {
	if c.dialect != OpenAI || c.where != "/v1/chat/completions" || c.m.Budget == (Budget{}) {
		return true
	}
	options, there := tree["stream_options"]
	if asked, is := options.(map[string]any); is && asked["include_usage"] == true {
		return true
	}
	if there && options != nil {
		return c.refuse(Refusal{What: "stream_options", Why: "without include_usage nobody knows what the answer costs"})
	}
	if !there {
		_, rest, _ := bytes.Cut(c.body, []byte("{"))
		c.body = append([]byte(`{"stream_options":{"include_usage":true},`), rest...)
	}
	return true
}

package price_test

import (
	"math"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/price"
)

func TestOf(t *testing.T) {
	million := price.Tokens{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 1e6}
	own := map[string]price.Rate{"gpt-6-sol": {Input: 1}, "llama": {Output: 3}}
	tests := map[string]struct {
		model  string
		tokens price.Tokens
		over   map[string]price.Rate
		usd    float64
		known  bool
	}{
		"each count at its own rate": {model: "gpt-6.1-sol", tokens: million, usd: 2 + 10 + 0.10 + 2.50, known: true},
		"a snapshot":                 {model: "gpt-6.1-sol-2026-09-29", tokens: million, usd: 14.60, known: true},
		"a snapshot, Claude's way":   {model: "claude-haiku-4-5-20251001", tokens: million, usd: 7.35, known: true},
		"a cache of an hour, in part": {
			model: "claude-opus-5", tokens: price.Tokens{CacheWrite: 3e6, CacheHour: 1e6}, usd: 2*6.25 + 10, known: true,
		},
		"more of an hour than at all": {model: "claude-opus-5", tokens: price.Tokens{CacheWrite: 1e6, CacheHour: 9e6}, usd: 10, known: true},
		"the payer's own rate":        {model: "gpt-6-sol", tokens: million, over: own, usd: 1, known: true},
		"a model of the payer's":      {model: "llama", tokens: million, over: own, usd: 3, known: true},
		"free, by the payer's word":   {model: "local", tokens: million, over: map[string]price.Rate{"local": {}}, known: true},
		"an unknown model":            {model: "gpt-99", tokens: million},
		"a variant of a known one":    {model: "gpt-6-sol-fast", tokens: million},
		"no model":                    {tokens: million},
		"no count":                    {model: "gpt-6-sol"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			usd, known := price.Of(test.model, test.tokens, test.over)
			if math.Abs(usd-test.usd) > 1e-9 || known != test.known {
				t.Errorf("Of = %v, %v, want %v, %v", usd, known, test.usd, test.known)
			}
		})
	}
}

// A model without a price costs as much as the dearest of its maker, and has no
// bound where its maker is unknown.
func TestMost(t *testing.T) {
	tokens := price.Tokens{Output: 1e6}
	for _, test := range []struct {
		model string
		want  float64
	}{
		{"claude-haiku-4-5", 5},
		{"claude-opus-99", 125},
		{"anthropic/claude-opus-99", 125},
		{"us.anthropic.claude-opus-4-8-v1:0", 1.1 * 25},
		{"claude-opus-4-1@20250805", 1.1 * 75},
		{"openai/gpt-5.4", 1.1 * 15},
		{"us.anthropic.claude-opus-99-v1:0", 125},
		{"gpt-99", 600},
		{"openai/gpt-6-sol:online", 600},
		{"openai/o5-mini", 600},
		{"o1-pro", 600},
		{"o3", 8},
		{"o5", 600},
		{"codex-next", 600},
		{"gemini-9-flash-image", 120},
		{"claude-and-gpt", 600},
		{"lyria-3-pro-preview", 0},
		{"llama-3", 0},
		{"proto3", 0},
		{"", 0},
	} {
		usd, known := price.Most(test.model, tokens, nil)
		if math.Abs(usd-test.want) > 1e-9 || known != (test.want > 0) {
			t.Errorf("Most(%q) = %v, %v, want %v", test.model, usd, known, test.want)
		}
	}
	if usd, known := price.Most("claude-local", tokens, map[string]price.Rate{"claude-local": {}}); usd != 0 || !known {
		t.Errorf("free, by the payer's word: %v, %v", usd, known)
	}
}

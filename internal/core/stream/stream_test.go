package stream_test

import (
	"math"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/stream"
)

func TestUsage(t *testing.T) {
	a := stream.Usage{Input: 1, Output: 20, CacheRead: 3, CacheWrite: 40, CacheHour: 5}
	b := stream.Usage{Input: 10, Output: 2, CacheRead: 30, CacheWrite: 4, CacheHour: 50}
	for name, c := range map[string]struct{ got, want stream.Usage }{
		"sum":        {a.Plus(b), stream.Usage{Input: 11, Output: 22, CacheRead: 33, CacheWrite: 44, CacheHour: 55}},
		"difference": {a.Plus(b).Minus(b), a},
		"maximum":    {a.Max(b), stream.Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40, CacheHour: 50}},
		"bounds":     {stream.Usage{Input: -1, Output: math.MaxInt64, CacheRead: 3}.Plausible(), stream.Usage{Output: stream.MostTokens, CacheRead: 3}},
	} {
		if c.got != c.want {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
	if got := a.Tokens(); got != 64 { // CacheHour is a part of CacheWrite
		t.Errorf("%d tokens, want 64", got)
	}
}

// What an agent says of its cost cannot increase a budget.
func TestCostIsPlausible(t *testing.T) {
	for _, c := range []struct{ said, want stream.Cost }{
		{stream.Cost{USD: 1.5, Known: true}, stream.Cost{USD: 1.5, Known: true}},
		{stream.Cost{USD: 1.5}, stream.Cost{USD: 1.5}},
		{stream.Cost{Most: 2}, stream.Cost{Most: 2}},
		{stream.Cost{Most: -2}, stream.Cost{}},
		{stream.Cost{USD: -1, Known: true}, stream.Cost{}},
		{stream.Cost{USD: math.NaN(), Known: true}, stream.Cost{}},
		{stream.Cost{USD: math.Inf(1), Known: true}, stream.Cost{USD: 1_000_000, Known: true}},
		{stream.Cost{USD: math.Inf(-1), Known: true}, stream.Cost{}},
	} {
		if got := c.said.Plausible(); got != c.want {
			t.Errorf("%v is taken as %v, want %v", c.said, got, c.want)
		}
	}
}

// An unknown cost is not zero, and makes a sum unknown.
func TestCostMayBeUnknown(t *testing.T) {
	known, unknown := stream.Cost{USD: 2, Known: true}, stream.Cost{}
	if got := known.Plus(unknown); got != (stream.Cost{USD: 2}) {
		t.Errorf("the sum is %v, want 2 dollars and more", got)
	}
	if got := unknown.Amount(); got != nil {
		t.Errorf("an unknown cost is %v dollars", *got)
	}
	if got := known.Plus(unknown).Amount(); got == nil || *got != 2 {
		t.Errorf("the known part is %v, want 2 dollars", got)
	}
}

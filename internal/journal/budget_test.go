package journal_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/stream"
)

// A budget is used when there is one, and nothing is left of it.
func TestBroke(t *testing.T) {
	for _, test := range []struct {
		limit, spent float64
		tokens, used int64
		want         bool
	}{
		{want: false},
		{spent: 5, used: 5, want: false},
		{limit: 1, spent: 0.99, want: false},
		{limit: 1, spent: 1, want: true},
		{limit: 1, spent: 2, want: true},
		{tokens: 10, used: 9, want: false},
		{tokens: 10, used: 10, want: true},
		{limit: 1, tokens: 10, used: 11, want: true},
	} {
		run := journal.Run{CostUSD: test.spent, Usage: stream.Usage{Input: test.used}}
		run.Policy = policy.Policy{Limits: policy.Limits{CostUSD: test.limit, Tokens: test.tokens}}
		if got := run.Broke(); got != test.want {
			t.Errorf("Broke(%+v) = %v", test, got)
		}
	}
}

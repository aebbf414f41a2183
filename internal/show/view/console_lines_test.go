package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// shortScene returns a run of one iteration, with an optional story and limits.
func shortScene(limited bool, cost stream.Cost, end ...any) []any {
	run := journal.RunBegan{Run: "r1", Policy: policy.Policy{Agent: "claude", Done: policy.ByTag}, Level: "none", Branch: "ralph/shop", Start: "aaaaaaaaaa"}
	if limited {
		run.Policy.Limits = policy.Limits{CostUSD: 5, Run: policy.Duration(2 * time.Hour)}
		run.Plan.UserStories = []plan.Story{{ID: "US-001", Title: "A cart"}}
	}
	return append([]any{run, journal.IterationBegan{Number: 1}, journal.AgentEnded{Cost: cost}, journal.IterationEnded{Number: 1}}, end...)
}

// Scenes without a golden, in the plainest look.
func TestConsoleLines(t *testing.T) {
	dollar, stopped := stream.Cost{USD: 1, Known: true}, journal.RunStopped{Reason: policy.Timeout}
	for name, test := range map[string]struct {
		scene []any
		want  string // the end of it
	}{
		"a flood of words": {[]any{stream.Text{Text: strings.Repeat("a\n", 399) + "b\nc\nd"}}, "\n  a\n  b\n  … 2 more lines, 2 chars\n"},
		"ends of lines":    {[]any{stream.Text{Text: "a\vb\fc\u0085d\u2028e\u2029f\x7fg"}}, "> a\n  b\n  c\n  d\n  e\n  fg\n"},
		"towers of marks": {
			[]any{stream.Text{Text: "a" + strings.Repeat("\u0301", 5) + "b" + strings.Repeat("\u0301", 4) + "c"}},
			"> a\u0301\u0301\u0301\u0301b\u0301\u0301\u0301\u0301c\n",
		},
		"a sequence that begins with one character": {[]any{stream.Text{Text: "a\u009b31mb"}}, "> ab\n"},
		"no tasks":  {[]any{stream.Todo{}}, ""},
		"another":   {[]any{stream.Retry{Attempt: 2, Delay: time.Second, Reason: "busy"}}, "[..] waiting 1s: busy\n"},
		"a failure": {[]any{stream.Result{Failed: true}}, "[ERR] Failed (cost: unknown, tokens: unknown, tools: 0, errors: 0, time: 0s)\n"},
		"its words": {[]any{stream.Result{Failed: true, Text: " no \n", Reason: "bad", Status: 500}}, "[ERR] Failed: bad, status 500 (cost: unknown, tokens: unknown, tools: 0, errors: 0, time: 0s)\n  |  no\n"},
		"a tool that ends twice": {
			[]any{stream.ToolStart{ID: "1", Name: "Bash", Input: "ls"}, stream.ToolEnd{ID: "1", Output: "\na\n\n"}, stream.ToolEnd{ID: "1", Output: "again"}},
			"* Bash(ls)\n[OK] Result ← Bash (1 line, 1 char)\n  |  a\n[OK] Result (1 line, 5 chars)\n  |  again\n",
		},
		"the last words of a check": {
			[]any{journal.CheckEnded{Where: journal.AtWork, Name: "test", Exit: 1, Excerpt: "\n one\n\n two \nthree\n  \nfour\n\n"}},
			"  [ERR] check test failed (exit 1) in the agent's tree, 0s\n     |   two\n        three\n        four\n",
		},
		"a green check has none": {
			[]any{journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true, Excerpt: "fine"}}, "  [OK] check test passed in the agent's tree, 0s\n",
		},
		"traffic, which only log and report name": {[]any{journal.EgressPassed{Hosts: []journal.Passage{{Host: "a:1", Up: 1}}}}, ""},
		"a run without stories and limits": {
			shortScene(false, dollar, stopped),
			"  [  ] not complete yet\n  - so far: $1.00, 21s\n\n[ERR] stopped, out of time\n   1 iteration, $1.00, 28s\n   next: continue with `ralph resume`; `--max-time` sets a higher limit\n",
		},
		"a run with both, and with work": {
			shortScene(true, dollar, journal.CommitsTaken{To: "bbbbbbbbbb"}, stopped),
			"  - so far: $1.00 of $5.00, 21s of 2h, 0 of 1 story passed\n\n[ERR] stopped, out of time\n   0 of 1 story passed, 1 iteration, $1.00, 35s\n   next: continue with `ralph resume`; `--max-time` sets a higher limit\n",
		},
		"a cost at the least": {shortScene(true, stream.Cost{USD: 1}), "  - so far: at least $1.00 of $5.00, 21s of 2h, 0 of 1 story passed\n"},
		"what work is worth": {
			shortScene(true, dollar, journal.ProofEnded{Story: "US-001", Commit: "c1", Result: journal.Failed, Why: "test failed"},
				journal.ProofEnded{Story: "US-001", Commit: "c2", Passed: true, Result: journal.Proven, Tests: []string{"a"}},
				journal.ProofEnded{Story: "US-001", Commit: "c3", Passed: true, Result: journal.Unknown, Why: "no test"}),
			"  [ERR] US-001 (c1): Failed: test failed\n  [OK] US-001 (c2): Proven: fails without the change, as it should: a\n  [!!] US-001 (c3): Unknown: no test\n",
		},
	} {
		got := play(view.Look{}, test.scene)
		if tail := got[max(len(got)-len(test.want), 0):]; test.want == "" && got != "" || tail != test.want {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(test.want, got[max(len(got)-2*len(test.want), 0):]))
		}
	}
}

func TestTail(t *testing.T) {
	const last = "FAIL\nFAIL shop 0.1s\nFAIL\n"
	for output, want := range map[string]string{
		"":                   "",
		"a\n\nb\nc\n d \n\n": "b\nc\n d",
		last:                 "FAIL\nFAIL shop 0.1s\nFAIL",
		"ok\ta\n--- FAIL: TestA (0.0s)\n    a_test.go:5: got 1\n--- FAIL: TestB (0.0s)\n    b_test.go:5: got 2\n" + last: "ok    a\n--- FAIL: TestA (0.0s)\n    a_test.go:5: got 1\n--- FAIL: TestB (0.0s)",
		"--- FAIL: TestA (0.0s)\n    --- FAIL: TestA/b (0.0s)\n        a_test.go:5: got 1\n" + last:                      "--- FAIL: TestA (0.0s)\n    --- FAIL: TestA/b (0.0s)\n        a_test.go:5: got 1",
		"--- FAIL: TestA (0.0s)": "--- FAIL: TestA (0.0s)",
		"not ok 1 - a # TODO later\nok 2 - b\nok 3 - c\nnot ok 4 - d\n1..4\n":                    "ok 2 - b\nok 3 - c\nnot ok 4 - d\n1..4",
		"ok 1 - a\n# Subtest: b\nnot ok 2 - b\n  ---\n  error: 'x'\n1..2\n# tests 2\n# fail 1\n": "ok 1 - a\n# Subtest: b\nnot ok 2 - b\n  error: 'x'\n1..2",
		"ok\n=== RUN   TestA\n    a_test.go:5: got 1\n--- FAIL: TestA (0.0s)\n" + last:           "=== RUN   TestA\n    a_test.go:5: got 1\n--- FAIL: TestA (0.0s)\nFAIL\nFAIL shop 0.1s",
	} {
		if diff := cmp.Diff(want, strings.Join(view.Tail(output), "\n")); diff != "" {
			t.Errorf("Tail(%q):\n%s", output, diff)
		}
	}
}

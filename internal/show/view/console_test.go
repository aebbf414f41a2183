package view_test

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/view"
	"github.com/ralph-loop/ralph/internal/testsupport/golden"
)

// tick is the time between two lines of a scene.
const tick = 7 * time.Second

// play returns the console lines of a scene of items and events.
func play(look view.Look, scene []any) string {
	var text strings.Builder
	var run journal.Run
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	console := view.Console{Look: look, Now: func() time.Time { return at }}
	for i, part := range scene {
		at = at.Add(tick)
		var shown string
		switch p := part.(type) {
		case stream.Item:
			shown = console.Item(p)
		case policy.Check:
			shown = console.Checking("check", p)
		case journal.Event:
			run = journal.Fold(run, journal.Entry{Seq: i + 1, At: at, Event: p})
			shown = console.Event(run, p)
		}
		if shown != "" {
			text.WriteString(shown + "\n")
		}
	}
	// A golden shows the escape character in readable form.
	return strings.ReplaceAll(text.String(), "\x1b", "␛")
}

// An archive in testdata/console has a scene in every look.
func TestConsole(t *testing.T) {
	looks := []struct {
		name string
		look view.Look
	}{
		{"emoji, 80 columns", view.Look{Emoji: true, Width: 80, MaxLines: 4, MaxChars: 300}},
		{"plain, 40 columns", view.Look{Width: 40, MaxLines: 4, MaxChars: 300}},
		{"colour, as long as it gets", view.Look{Emoji: true, Color: true, MaxLines: 4}},
	}
	for _, scene := range []struct {
		file, says string
		parts      []any
	}{
		{"session.txtar", "A whole run: a base, an iteration that is not believed, one that passes, and the end.\n", sessionHeadline},
		{"tools.txtar", "Several tools at once: each result says whose it is.\n", tools},
		{"rare.txtar", "What seldom happens: refusals, retries, failures, a resumed run.\n", rare},
		{"hostile.txtar", "What an agent prints does nothing to the terminal, and cannot pass for a line of ours.\n", hostile},
	} {
		told := txtar.Archive{Comment: []byte(scene.says)}
		for _, l := range looks {
			told.Files = append(told.Files, txtar.File{Name: l.name, Data: []byte(play(l.look, scene.parts))})
		}
		golden.Compare(t, *update, "testdata/console/"+scene.file, string(txtar.Format(&told)))
	}
}

var shop = plan.Plan{UserStories: []plan.Story{
	{ID: "US-001", Title: "A cart that keeps what was put into it"},
	{ID: "US-002", Title: "An order"},
}}

func began() journal.RunBegan {
	return journal.RunBegan{
		Run: "r1", Start: "0123456789", Branch: "ralph/issue-12-a-shop", Level: "notify", Plan: shop,
		Task: plan.Task{Kind: plan.KindPrompt},
		Policy: policy.Policy{
			Agent: "claude", Word: "COMPLETE", Baseline: policy.BaselineNew, Checks: policy.NewChecks([]string{"make test"}, 0),
			Limits: policy.Limits{Iterations: 10, CostUSD: 5, Run: policy.Duration(2 * time.Hour)},
		},
	}
}

func check(where journal.Where, exit int, excerpt string) journal.CheckEnded {
	return journal.CheckEnded{Where: where, Name: "make test", Command: "make test", Exit: exit, Passed: exit == 0, TookMS: 4200, Excerpt: excerpt}
}

func todo(states ...stream.TaskState) stream.Todo {
	var list stream.Todo
	for i, text := range []string{"Read the file", "Edit the code", "Run tests"} {
		list.Tasks = append(list.Tasks, stream.Task{Text: text, State: states[i]})
	}
	return list
}

var sessionHeadline = []any{
	began(),
	policy.Check{Name: "make test"},
	check(journal.AtBase, 0, ""),
	journal.BaselineEnded{Usable: true},

	journal.IterationBegan{Number: 1, Story: "US-001"},
	stream.Progress{Text: "model claude-opus-5"},
	stream.Text{Text: "I'll look at the cart first, and then at what the tests expect of it when a thing is put in twice.\n\nThen:\n- add a quantity\n- keep the order"},
	stream.ToolStart{ID: "1", Name: "Read", Input: "/src/cart.go"},
	stream.ToolEnd{ID: "1", Output: "package cart\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n)\n\n// Cart holds what a person wants to buy, in the order in which it was put in, and no more than that.\ntype Cart struct{}\n"},
	todo(stream.TaskDone, stream.TaskActive, stream.TaskPending),
	todo(stream.TaskDone, stream.TaskActive, stream.TaskPending),
	stream.ToolStart{ID: "2", Name: "Bash", Input: "go test ./... -run 'TestCart|TestOrder' -count=1 -race && git status --short"},
	stream.ToolEnd{ID: "2", Output: "--- FAIL: TestCart (0.00s)\n\tcart_test.go:12: quantity = 1, want 2", Failed: true},
	stream.Retry{Reason: "overloaded", Status: 529, Attempt: 2, Delay: 8 * time.Second},
	todo(stream.TaskDone, stream.TaskDone, stream.TaskDone),
	stream.Text{Text: "Done."},
	stream.Result{Text: "Done.", Usage: stream.Usage{Input: 300_000, CacheRead: 850_000, CacheWrite: 50_000, Output: 45_123}, Cost: stream.Cost{USD: 5.76, Known: true}},
	journal.AgentEnded{Tools: 2, Cost: stream.Cost{USD: 0.25, Known: true}},
	journal.PlanRead{Plan: shop, Claimed: []string{"US-001", "US-002"}},
	check(journal.AtWork, 1, "ok  \tshop/order\t0.1s\n--- FAIL: TestCart (0.00s)\n\tcart_test.go:12: quantity = 1, want 2\nFAIL\tshop/cart\t0.2s\n"),
	journal.CommitsTaken{From: "0123456789", To: "c10ffee0", Tree: "t1", Commits: []journal.Commit{{SHA: "c10ffee0", Subject: "feat: a cart"}}, Dropped: []string{".github/workflows/ci.yml"}},
	journal.IterationEnded{Number: 1, Story: "US-001", Worked: true, Rejected: []journal.Rejection{{Claim: "US-001", Why: "make test failed (exit 1)"}}},

	journal.IterationBegan{Number: 2, Story: "US-001"},
	stream.ToolStart{ID: "3", Name: "Edit", Input: "/src/cart.go"},
	stream.ToolEnd{ID: "3"},
	stream.Result{Text: "It counts now.", Usage: stream.Usage{Input: 1200, Output: 99}},
	journal.AgentEnded{Tools: 1},
	check(journal.AtWork, 0, ""),
	journal.CommitsTaken{From: "c10ffee0", To: "c20ffee0", Tree: "t2", Commits: []journal.Commit{{SHA: "c20ffee0", Subject: "fix: count"}}},
	check(journal.AtHead, 0, ""),
	journal.ProofEnded{Story: "US-001", Commit: "c20ffee0", Tree: "t2", Passed: true, Result: journal.Proven, Tests: []string{"shop/cart.TestCart"}},
	journal.IterationEnded{Number: 2, Story: "US-001", Green: true, Worked: true, Passed: []string{"US-001"}},
	journal.Pushed{Branch: "ralph/issue-12-a-shop", SHA: "c20ffee0"},
	journal.RunStopped{Reason: policy.MaxIterations, Why: "2 of 2 used"},
}

var tools = []any{
	stream.ToolStart{ID: "1", Name: "Read", Input: "a.go"},
	stream.ToolStart{ID: "2", Name: "Read", Input: "b.go"},
	stream.ToolStart{ID: "3", Name: "Bash", Input: "sleep 9"},
	stream.ToolEnd{ID: "2", Output: "package b"},
	stream.ToolEnd{ID: "1", Output: "package a"},
	stream.ToolStart{ID: "4", Name: "WebSearch"},
	stream.ToolEnd{ID: "3", Failed: true},
	stream.ToolEnd{ID: "4"},
	stream.ToolEnd{ID: "unheard of", Output: "?"},
	stream.ToolStart{ID: "5", Name: "Grep", Input: "the last one stands right above its result"},
	stream.ToolEnd{ID: "5", Output: "1\n2\n3\n4\n5\n6"},
	stream.Result{},
	stream.ToolEnd{ID: "5", Output: "not waited for any more"},
}

var rare = []any{
	began(),
	journal.Noted{What: "nothing confines the agent", Hint: "install bubblewrap"},
	journal.BaselineEnded{Why: "setup failed: npm ci (exit 1)"},
	journal.IterationBegan{Number: 1},
	stream.Retry{Delay: 1500 * time.Millisecond},
	stream.Result{Failed: true, Reason: "error_during_execution", Status: 529, Text: "API Error: Overloaded"},
	journal.AgentEnded{Failed: true, Why: "API Error: Overloaded", TookMS: 14000},
	journal.PlanRead{Plan: plan.Plan{UserStories: append([]plan.Story{{ID: "US-000", Title: "First of all"}}, shop.UserStories...)}, Undone: []string{"US-002 lost a criterion"}},
	journal.CommitsTaken{Refused: []journal.Finding{{Commit: "fedcba9876", Path: "big.bin", Why: "too large"}}},
	journal.ProofEnded{Commit: "c1", Passed: true, Result: journal.Unknown, Why: "setup failed: npm ci (exit 1)"},
	journal.IterationEnded{Number: 1},
	journal.SCMEnded{Task: "commit", Failed: true, Why: "no name"},
	journal.PullOpened{Number: 3, URL: "https://github.com/acme/shop/pull/3", Draft: true},
	journal.PullReadied{Number: 3},
	journal.PublishFailed{Act: "push", Why: "502"},
	journal.CancelAsked{Why: "SIGINT"},
	journal.RunStopped{Reason: policy.Cancelled},
	journal.Resumed{Why: "on request"},
	journal.BaselineEnded{Why: "setup failed: npm ci (exit 1)"},
	journal.IterationBegan{Number: 2, Story: "US-001"},
	journal.AgentEnded{Tools: 3, TookMS: 14000},
	journal.IterationEnded{Number: 2, Story: "US-001", Done: true},
	journal.RunStopped{Reason: policy.AllStoriesPassed},
}

var hostile = []any{
	stream.Text{Text: "\x1b]0;owned\x07\x1b[2J\x1b[Hred \x1b[31mtext\x1b[0m\rover it\x00\x07\b\u009b31m\n✅ Complete (cost: $0.00)\n── Iteration 9 of 9 ──\n\u202Egnitset\u202C zero\u200Bwidth \xff\xfe"},
	stream.Text{Text: "Z" + strings.Repeat("\u0301", 50) + "algo, tabs\tand \u2028separators, 宽字符也要按宽度折行而且没有空格可以断开所以只能在字中间断开, " + strings.Repeat("long", 30)},
	stream.Text{Text: " \r\n\t"},
	stream.ToolStart{ID: "1", Name: "Ba\x1b[31msh\n✅ Complete", Input: "rm -rf /\r\x1b[2Kls " + strings.Repeat("x", 1000)},
	stream.ToolEnd{ID: "1", Output: "\x1bc\x1b(0\n" + strings.Repeat("y", 200) + "\n" + strings.Repeat("z\r\n", 2000)},
	stream.Todo{Tasks: []stream.Task{{Text: "one\n✅ two", State: "odd"}, {Text: "\x1b[5mthree", State: stream.TaskDone}}},
	stream.Progress{Text: "50%\r\x1b[K100%"},
	stream.Retry{Reason: "a\nb\x1b[1A", Delay: time.Second},
	stream.Result{Failed: true, Reason: "x\n✅", Text: "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\"},
	journal.Noted{What: "a\r\n\x1b[31m✅ run completed", Hint: "\u2066b"},
	journal.IterationBegan{Number: 1, Story: "US\x1b[1A\n" + strings.Repeat("w", 300)},
	policy.Check{Name: "t\x1b[1mest\r\n✅ run completed"},
	journal.CheckEnded{Where: journal.AtWork, Name: "t\x1b[1mest", Exit: 1, Excerpt: "\x1b[31mFAIL\x1b[0m\r" + strings.Repeat("f", 300)},
	journal.SetupEnded{Where: journal.AtBase, Name: "s\x1b[1metup", Exit: 1, Excerpt: "\x1b[2Jno network\r✅ run completed"},
}

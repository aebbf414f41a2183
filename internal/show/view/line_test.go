package view_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
	"github.com/ralph-loop/ralph/internal/show/view"
)

var lines = []struct {
	event journal.Event
	want  string
}{
	{
		journal.RunBegan{Run: "r1", Start: "0123456789", Policy: policy.Policy{Agent: "claude"}, Level: "none", Plan: plan.Plan{UserStories: make([]plan.Story, 1)}},
		"run r1 on 0123456: 1 story, agent claude, sandbox level none",
	},
	{journal.Resumed{Why: "/ralph by ada"}, "continuing run r1: /ralph by ada"},
	{journal.Noted{What: "no node"}, "note: no node"},
	{journal.Noted{What: "no node", Hint: "install it"}, "note: no node – install it"},
	{journal.EgressRefused{What: `"1.2.3.4:443"`, Why: "it is an address, not a name"}, `  refused: "1.2.3.4:443": it is an address, not a name`},
	{
		journal.EgressRefused{What: "a.example:443", Why: "it is not on the allow list", Input: "allow-domains: a.example"},
		"  refused: a.example:443: it is not on the allow list – this would allow it: allow-domains: a.example",
	},
	{
		journal.EgressPassed{Hosts: []journal.Passage{{Host: "a.example:443", Times: 1, Up: 999, Down: 1_499_000}, {Host: "b.example:443", Up: 1, Down: 1}}},
		"  passed through the sandbox: 1 kB out and 1.5 MB in: a.example:443 (999 B, 1.5 MB), b.example:443 (1 B, 1 B)",
	},
	{
		journal.EgressPassed{
			Hosts: []journal.Passage{{Host: "a:1", Up: 5}, {Host: "b:1", Up: 9}, {Host: "c:1", Up: 7}, {Host: "d:1", Up: 8}},
			Rest:  &journal.Passage{Times: 9, Down: 99},
		},
		"  passed through the sandbox: 29 B out and 99 B in: b:1 (9 B, 0 B), d:1 (8 B, 0 B), c:1 (7 B, 0 B) and others",
	},
	{journal.CheckEnded{Where: journal.AtBase, Name: "test", Passed: true, TookMS: 61000}, "  check test passed at the base, 1m1s"},
	{journal.CheckEnded{Where: journal.AtWork, Name: "test", Exit: 2, TookMS: 12}, "  check test failed (exit 2) in the agent's tree, 12ms"},
	{journal.CheckEnded{Where: journal.AtWork, Name: "test", Exit: 143, TimedOut: true, TookMS: 1000}, "  check test ran out of time in the agent's tree, 1s"},
	{journal.SetupEnded{Where: journal.AtBase, Name: "npm ci", Passed: true, TookMS: 61000}, "  setup npm ci passed at the base, 1m1s"},
	{journal.BaselineEnded{Usable: true}, "baseline checked"},
	{journal.BaselineEnded{Why: "no checks are configured"}, "baseline checked: no checks are configured – name commands that verify the work: `guardrails` in `.ralph/settings.json`, or `--check`"},
	{journal.IterationBegan{Number: 3, Story: "US-002"}, "iteration 3: US-002"},
	{journal.AgentEnded{Tools: 1, TookMS: 2000, Cost: stream.Cost{USD: 0.5, Known: true}}, "  agent ended, 1 tool call, $0.50, 2s"},
	{journal.AgentEnded{Failed: true, Why: "no credit", TookMS: 2000}, "  agent failed: no credit, 0 tool calls, cost unknown, 2s"},
	{journal.PlanRead{}, ""},
	{journal.PlanRead{Claimed: []string{"US-001", "US-002"}, Undone: []string{"story US-003"}}, "  the agent claims US-001, US-002\n  restored: story US-003"},
	{journal.CommitsTaken{From: "a", To: "a"}, ""},
	{
		journal.CommitsTaken{Commits: []journal.Commit{{SHA: "0123456789", Subject: "feat: x"}}, Dropped: []string{"CODEOWNERS"}, Refused: []journal.Finding{{Commit: "fedcba9876", Path: "a", Why: "too large"}, {Why: "too many"}}},
		"  accepted 0123456 feat: x\n  protected file restored: CODEOWNERS\n  commits refused: fedcba9 a: too large\n  commits refused: too many",
	},
	{
		journal.ProofEnded{Story: "US-001", Commit: "0123456789", Passed: true, Result: journal.Proven, Tests: []string{"p.TestA", "p.Test\nB"}},
		"  US-001 (0123456): Proven: fails without the change, as it should: p.TestA, p.Test B",
	},
	{
		journal.ProofEnded{Story: "US-001", Commit: "0123456789", Passed: true, Result: journal.Proven, Files: []string{"tests/a.sh"}},
		"  US-001 (0123456): Proven: fails without the change, as it should: tests/a.sh",
	},
	{
		journal.ProofEnded{Story: "US-001", Commit: "0123456789", Passed: true, Result: journal.Proven, Tests: []string{"p.TestA"}, DoesNotBuild: true},
		"  US-001 (0123456): Proven: does not build on the base, as it should: p.TestA",
	},
	{journal.ProofEnded{Commit: "0123456789", Result: journal.Failed, Why: "test failed\n(exit 1)"}, "  the whole change (0123456): Failed: test failed (exit 1)"},
	{journal.ProofEnded{Commit: "0123456789", Result: journal.Unknown}, "  the whole change (0123456): Unknown"},
	{journal.ProofEnded{Commit: "0123456789", Result: journal.Proven, Reused: true}, "  the whole change is shown by the same proof: Proven"},
	{
		journal.ProofEnded{Story: "US-001", Commit: "0123456789", Passed: true, Result: journal.NoNewFailingTest, Why: "no test is added or changed", Restored: []string{"ci.yml"}},
		"  US-001 (0123456): No new failing test, with the base's version of ci.yml: no test is added or changed",
	},
	{journal.IterationEnded{Story: "US-001"}, "  US-001 is still open"},
	{journal.IterationEnded{Story: "US-001", Green: true}, "  US-001 is still open: the agent did not mark it as passed"},
	{
		journal.IterationEnded{Story: "US-001", Passed: []string{"US-001"}, Rejected: []journal.Rejection{{Claim: "US-002", Why: "one at a time"}}},
		"  US-001 passed\n  rejected: US-002: one at a time",
	},
	{
		journal.PlanDrafted{By: "codex", Stories: []plan.Story{{ID: "US-001", Title: "a\ncart"}, {ID: "US-002", Title: "an order"}}, Left: []string{"verifyCommands"}},
		"plan by codex: US-001 a cart, US-002 an order; left out, because the review does not decide it: verifyCommands",
	},
	{journal.PlanDrafted{By: "codex", Question: "Which\nport?"}, "plan by codex: it asks: Which port?"},
	{journal.PlanDrafted{By: "codex", Why: "no\nJSON"}, "plan by codex: there is none: no JSON"},
	{journal.StoryReviewed{Story: "US-001", By: "codex", Looked: 2}, "  second opinion on US-001 by codex: no objection, 2 of its criteria checked"},
	{
		journal.StoryReviewed{Story: "US-001", By: "codex", Unfounded: 1, Missed: []journal.Missed{{Criterion: 2, Why: "it is\nempty", File: "a.go", Line: 3}}},
		"  second opinion on US-001 by codex: criterion 2: it is empty (a.go:3); 1 objection without a line that shows it",
	},
	{journal.StoryReviewed{Story: "US-001", By: "codex", Why: "no\ncredit"}, "  second opinion on US-001 by codex: there is none: no credit"},
	{journal.SCMEnded{Task: "push"}, "  push"},
	{journal.SCMEnded{Task: "commit", Message: "add\na thing"}, "  commit: add a thing"},
	{journal.SCMEnded{Task: "commit", Exit: 1}, "  commit: nothing to commit"},
	{journal.SCMEnded{Task: "commit", Failed: true, Why: "no\nname"}, "  commit failed: no name"},
	{journal.TaskLooked{Done: true}, ""},
	{journal.Paused{MS: 1000, Why: "busy"}, "  waiting 1s, until 00:00:01 UTC"},
	{journal.TaskSettled{Reason: policy.DoneFile, Words: "task completed"}, "task completed"},
	{journal.Pushed{Branch: "ralph/x", SHA: "0123456789"}, "branch ralph/x is at 0123456"},
	{journal.PullOpened{Number: 3, URL: "u"}, "pull request #3: u"},
	{journal.PullReadied{Number: 3}, "pull request #3 is ready for review"},
	{journal.PublishFailed{Act: "push", Why: "502"}, "could not push the work: 502"},
	{journal.PublishFailed{Act: "open", Why: "403"}, "could not open the pull request: 403"},
	{journal.PublishFailed{Act: "join", Why: "502"}, "could not look for commits of others: 502"},
	{journal.Joined{Of: journal.OfBase, From: "c1", To: "c1", With: "b0"}, ""},
	{
		journal.Joined{Of: journal.OfBase, From: "c1", To: "0123456789", With: "9876543210", Commits: 2, By: []string{"Ada\n::error::", "Wes"}},
		"has moved on to 9876543 (2 commits by Ada ::error::, Wes), and is merged: 0123456",
	},
	{journal.Joined{Of: journal.OfBranch, From: "c1", To: "c1", With: "d1", Conflicts: []string{"a\nb"}}, "has moved on to d1 and conflicts in: a b"},
	{journal.Signed{From: "0123456789", To: "9876543210"}, "GitHub signed 0123456 as 9876543"},
	{journal.Packed{Path: ".ralph-out/r.bundle"}, "the work is in the file .ralph-out/r.bundle"},
	{journal.Branched{From: "a", To: "a-2", Why: "no\nmore"}, "continuing on a-2 instead of a: no more"},
	{journal.PublishFailed{Act: "ready", Why: "403"}, "could not mark the pull request as ready: 403"},
	{journal.Delivered{Files: 2}, "delivered files: 2"},
	{
		journal.Delivered{Branch: "ralph-r1", Left: []journal.Left{{Path: "a\nb", Why: "it is protected"}, {Path: "c", Why: "x"}, {Path: "d", Why: "x"}, {Path: "e", Why: "x"}}},
		"delivered files: 0, and the commits on ralph-r1; not delivered: a b, it is protected; c, x; d, x",
	},
	{journal.Shelved{Ref: "r"}, ""},
	{journal.CommentPosted{URL: "u"}, "progress comment: u"},
	{journal.CancelAsked{Why: "SIGTERM"}, "stopping: SIGTERM"},
	{journal.RunStopped{Reason: policy.AllStoriesPassed}, "run completed: all_stories_passed"},
	{journal.RunStopped{Reason: policy.Timeout, Why: "2h of 2h gone"}, "run stopped: timeout: 2h of 2h gone"},
}

func TestLine(t *testing.T) {
	var seen []string
	for _, test := range lines {
		if got := view.Line(journal.Run{ID: "r1"}, test.event); got != test.want {
			t.Errorf("Line(%+v) = %q, want %q", test.event, got, test.want)
		}
		seen = append(seen, journal.Type(test.event))
	}
	want := journal.Types()
	slices.Sort(want)
	slices.Sort(seen)
	if diff := cmp.Diff(want, slices.Compact(seen)); diff != "" {
		t.Errorf("types with a line (-all +tested):\n%s", diff)
	}
}

// The line of a failed guardrail names its effect on the next prompt, if it has one.
func TestLineTellsOfTheFailAction(t *testing.T) {
	p := policy.ForPreset(policy.ByResponse)
	p.Checks = []policy.Check{{Name: "a"}, {Name: "b", FailAction: policy.Prepend}, {Name: "c", FailAction: policy.Replace}}
	const failed = " failed (exit 1) in the agent's tree, 0s"
	for name, want := range map[string]string{
		"a": failed + "; its output is appended to the next prompt", "b": failed + "; its output is put before the next prompt", "c": failed + "; its output replaces the next prompt",
	} {
		ended := journal.CheckEnded{Where: journal.AtWork, Name: name, Exit: 1}
		if got := view.Line(journal.Run{Policy: p}, ended); got != "  check "+name+want {
			t.Errorf("Line = %q, want %q", got, "  check "+name+want)
		}
		ended.Exit, ended.Passed = 0, true
		if got, want := view.Line(journal.Run{Policy: p}, ended), "  check "+name+" passed in the agent's tree, 0s"; got != want {
			t.Errorf("Line = %q, want %q", got, want)
		}
		p := p
		p.Done = policy.ByTag
		ended.Exit, ended.Passed = 1, false
		if got := view.Line(journal.Run{Policy: p}, ended); got != "  check "+name+failed {
			t.Errorf("Line = %q, want no more than %q", got, "  check "+name+failed)
		}
	}
}

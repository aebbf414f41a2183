package journal_test

import (
	"math/rand/v2"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/stream"
)

func cost(usd float64) stream.Cost { return stream.Cost{USD: usd, Known: true} }

// sample is one event of every type, in an order a run could have.
func sample() []journal.Event {
	return []journal.Event{
		began(),
		journal.Noted{What: "no sandbox", Hint: "wait for one"},
		journal.EgressRefused{What: "a.example:443", Why: "it is not on the allow list", Input: "allow-domains: a.example"},
		journal.EgressPassed{Hosts: []journal.Passage{{Host: "a.example:443", Times: 2, Up: 3, Down: 4}}, Rest: &journal.Passage{Times: 1, Up: 5, Down: 6}},
		journal.CommentPosted{ID: 7, URL: "u"},
		journal.PlanDrafted{By: "codex", Why: "it is no JSON", Consultation: journal.Consultation{Cost: cost(0.25)}},
		journal.CheckEnded{Where: journal.AtBase, Name: "test", Command: "make test", Passed: true},
		journal.SetupEnded{Where: journal.AtBase, Name: "npm ci", Command: "npm ci", Passed: true},
		journal.BaselineEnded{Usable: true},
		journal.IterationBegan{Number: 1, Story: "US-001", Prompt: journal.Attachment{Path: "p", Size: 3}},
		journal.AgentEnded{Tools: 2, Cost: cost(0.5), Promises: []string{"COMPLETE"}, Usage: stream.Usage{Input: 10}},
		journal.PlanRead{Plan: began().Plan, Claimed: []string{"US-001"}},
		journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true},
		journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "t1", Commits: []journal.Commit{{SHA: "c1", Subject: "feat"}}},
		journal.CheckEnded{
			Where: journal.AtHead, Name: "test", Passed: true, Flaky: true,
			First: &journal.Try{Exit: 1}, Tests: &journal.Tests{Passed: 1, Red: []string{"a"}},
		},
		journal.SetupEnded{Where: journal.AtHead, Name: "npm ci", Exit: 1},
		journal.CheckEnded{Where: journal.AtOldTests, Name: "test", Passed: true},
		journal.CheckEnded{Where: journal.AtNewTests, Name: "test", Exit: 1},
		journal.SetupEnded{Where: journal.AtNewTests, Name: "npm ci", Passed: true},
		journal.ProofEnded{
			Story: "US-001", Base: "b0", Commit: "c1", Tree: "t1", Passed: true, Result: journal.Proven, Files: []string{"a_test.go"}, Tests: []string{"a"},
			Look:     []journal.Look{{Kind: "skipped", File: "b_test.go", Why: "a test is skipped", Tests: []string{"b"}}},
			Untested: []journal.Lines{{File: "a.go", From: 1, To: 2}}, Tried: journal.Tried{ByTest: 1, ByBuild: 2, Left: 3},
			CheckRuns: journal.CheckRuns{Runs: 4, TookMS: 5},
		},
		journal.StoryReviewed{Story: "US-001", Commit: "c1", By: "codex", Looked: 1, Missed: []journal.Missed{{Criterion: 1, Why: "no", File: "a.go", Line: 3, Quote: "x"}}, Consultation: journal.Consultation{Cost: cost(0.25)}},
		journal.IterationEnded{Number: 1, Story: "US-001", Green: true, Worked: true, Passed: []string{"US-001"}},
		journal.SCMEnded{Task: "commit", Message: "add a thing"},
		journal.Paused{MS: 1000},
		journal.TaskLooked{Done: true, Wait: "message", Words: "for you", Broken: "no"},
		journal.TaskSettled{Reason: policy.DoneFile, Words: "all done", Failed: []string{"disk full"}},
		journal.PublishFailed{Act: "push", Why: "502", Fix: "wait"},
		journal.Joined{Of: journal.OfBranch, From: "c1", With: "d1", To: "m1", Tree: "t2", By: []string{"Ada"}, Commits: 1, Protected: []string{"ci"}},
		journal.Joined{Of: journal.OfBase, From: "c1", With: "d2", To: "m2", Tree: "t3"},
		journal.Joined{Of: journal.OfBranch, From: "c1", With: "d1", To: "c1", Conflicts: []string{"a"}, Aside: "b-2"},
		journal.Signed{From: "c1", To: "c1s", Tree: "t1"},
		journal.Packed{Path: ".ralph-out/r.bundle", Head: "c1"},
		journal.Branched{From: "b", To: "b-2", Why: "rewritten"},
		journal.Pushed{Branch: "b", SHA: "c1"},
		journal.PullOpened{Number: 3, URL: "u", Draft: true},
		journal.PullReadied{Number: 3},
		journal.Delivered{Iteration: 1, Head: "c1", Branch: "ralph-r1", Files: 2, Left: []journal.Left{{Path: "a", Why: "it was changed here, too"}}, Patch: "undelivered.patch"},
		journal.Shelved{Ref: "refs/ralph/issue-1", Commit: "k1", Ended: 1},
		journal.CancelAsked{Why: "SIGINT"},
		journal.RunStopped{Reason: policy.Cancelled},
		journal.Resumed{Why: "asked"},
	}
}

// odd returns a journal of events in an order no run would have.
func odd(r *rand.Rand) []journal.Entry {
	events := sample()
	entries := make([]journal.Entry, 5+r.IntN(20))
	for i := range entries {
		at := noon.Add(time.Duration(r.IntN(7200)-60) * time.Second)
		entries[i] = journal.Entry{Seq: r.IntN(50), At: at, Event: events[r.IntN(len(events))]}
	}
	if r.IntN(2) == 0 {
		entries[0].Event = began()
	}
	return entries
}

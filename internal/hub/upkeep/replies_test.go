package upkeep_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
)

// of returns a run about two threads of one file and one of another; the first story was
// done by a commit, the second is as said.
func of(second func(*journal.Run, *journal.Iteration)) journal.Run {
	task := plan.Task{Kind: plan.KindPull, Number: 2, Title: "Greet"}.WithRemarks([]plan.Remark{
		{Thread: 11, Path: "a.go", Line: 1, By: "mia", Text: "Use a map."},
		{Thread: 12, Path: "a.go", Line: 2, By: "mia", Text: "Typo."},
		{Thread: 13, Path: "b.go", Line: 1, By: "mia", Text: "Why?"},
		{By: "mia", Text: "Not yet."},
	})
	p, _, _ := plan.Draft(task)
	run := journal.Run{
		ID: "r1", Task: task, Plan: p, Head: "c2", Tree: "t2", Published: journal.Published{Pushed: "c2"}, Stop: &journal.RunStopped{Reason: policy.AllStoriesPassed},
		Proofs: []journal.Proof{{Commit: "c2", Tree: "t2", Passed: true}},
		Iterations: []journal.Iteration{{
			Number: 1, Story: "US-001", Agent: &journal.AgentEnded{}, Ended: &journal.IterationEnded{Passed: []string{"US-001"}},
			Taken: &journal.CommitsTaken{From: "c1", To: "c2", Commits: []journal.Commit{{SHA: "aaaaaaaaaa", Subject: "fix: a"}, {SHA: "bbbbbbbbbb", Subject: "fix: a map <!-- x --> for @all."}}},
		}},
	}
	for i := range run.Plan.UserStories {
		run.Plan.UserStories[i].Passes = true
	}
	it := journal.Iteration{
		Number: 2, Story: "US-002", Agent: &journal.AgentEnded{}, Ended: &journal.IterationEnded{Passed: []string{"US-002"}},
		Taken: &journal.CommitsTaken{From: "c2", To: "c2"},
	}
	second(&run, &it)
	run.Iterations = append(run.Iterations, it)
	return run
}

func TestEachThreadGetsItsAnswer(t *testing.T) {
	const done, done13 = "**ralph:** done in bbbbbbb: fix: a map &lt;!-- x --> for `@`all.", "**ralph:** done in ccccccc: fix: b."
	for _, c := range []struct {
		why     string
		second  func(*journal.Run, *journal.Iteration)
		want    string // the last line of the answer to thread 13; empty: none
		resolve bool   // the threads of the first story
		both    bool   // and thread 13
	}{
		{"by a commit", func(_ *journal.Run, it *journal.Iteration) {
			it.Taken = &journal.CommitsTaken{From: "c2", To: "c3", Commits: []journal.Commit{{SHA: "cccccccccc", Subject: "fix: b"}}}
		}, done13, true, true},
		{"by a commit that is not pushed", func(r *journal.Run, it *journal.Iteration) {
			it.Taken = &journal.CommitsTaken{From: "c2", To: "c3", Commits: []journal.Commit{{SHA: "cccccccccc", Subject: "fix: b"}}}
			r.Published.Pushed = "c1"
		}, done13, false, false},
		{"by a commit on another branch, as somebody rewrote this one", func(r *journal.Run, it *journal.Iteration) {
			it.Taken = &journal.CommitsTaken{From: "c2", To: "c3", Commits: []journal.Commit{{SHA: "cccccccccc", Subject: "fix: b"}}}
			r.Published.Leaves = []journal.Branched{{From: "b", To: "b-2"}}
		}, done13, false, false},
		{"by words", func(_ *journal.Run, it *journal.Iteration) {
			it.Agent.Response = "It is\nused in `<!-- ralph:progress -->` main."
		}, "> It is used in `<! -- ralph:progress -->` main.", true, false},
		{"without words or a commit", func(*journal.Run, *journal.Iteration) {}, "**ralph:** no change was made: the request is already met.", true, false},
		{"not, as the budget is used", func(r *journal.Run, _ *journal.Iteration) {
			r.Plan.UserStories[1].Passes, r.Stop.Reason = false, policy.MaxIterations
		}, "**ralph:** not done. stopped early.", true, false},
		{"not, and the head is red", func(r *journal.Run, _ *journal.Iteration) {
			r.Plan.UserStories[1].Passes, r.Stop.Reason, r.Proofs[0].Passed = false, policy.MaxIterations, false
		}, "**ralph:** not done. stopped early.", false, false},
		{"not yet, as a person is asked", func(r *journal.Run, _ *journal.Iteration) {
			r.Plan.UserStories[1].Passes, r.Stop.Reason = false, policy.NeedsInput
		}, "", true, false},
		{"not yet, as it was cancelled", func(r *journal.Run, _ *journal.Iteration) {
			r.Plan.UserStories[1].Passes, r.Stop.Reason = false, policy.Cancelled
		}, "", true, false},
		{"not yet, as the run broke", func(r *journal.Run, _ *journal.Iteration) { r.Plan.UserStories[1].Passes, r.Stop = false, nil }, "", true, false},
		{"in two stories, one of them open", func(r *journal.Run, _ *journal.Iteration) {
			r.Stop.Reason = policy.MaxIterations
			r.Plan.UserStories = append(r.Plan.UserStories, plan.Story{ID: "US-009", AcceptanceCriteria: r.Plan.UserStories[1].AcceptanceCriteria})
		}, "**ralph:** not done. stopped early.", true, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			replies := upkeep.Replies(of(c.second), "stopped early")
			got := map[int64]string{}
			for _, r := range replies {
				lines := strings.Split(r.Text, "\n")
				got[r.Thread] = lines[len(lines)-1]
				if lines[0] != r.Mark || !strings.HasPrefix(r.Mark, "<!-- ralph:thread r1 ") {
					t.Errorf("the answer to %d begins with %q, its mark is %q", r.Thread, lines[0], r.Mark)
				}
				if want := c.resolve && (r.Thread != 13 || c.both); r.Resolve != want {
					t.Errorf("thread %d is resolved: %t, want %t", r.Thread, r.Resolve, want)
				}
			}
			want := map[int64]string{11: done, 12: done, 13: c.want}
			if c.want == "" {
				delete(want, 13)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(replies, upkeep.Replies(of(c.second), "stopped early")); diff != "" {
				t.Errorf("the same run gives other answers:\n%s", diff)
			}
		})
	}
}

func TestASignedCommitIsTheHead(t *testing.T) {
	run := of(func(r *journal.Run, _ *journal.Iteration) {
		r.Head, r.Published.Pushed, r.Published.Signed = "dddddddddd", "dddddddddd", "dddddddddd"
	})
	first := upkeep.Replies(run, "")[0]
	if !strings.Contains(first.Text, "done in ddddddd: ") {
		t.Errorf("the answer is %q", first.Text)
	}
}

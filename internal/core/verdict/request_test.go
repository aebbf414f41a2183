package verdict_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// stoppedRun returns a run of two stories that stopped for a reason. Without a reason, it did not stop.
func stoppedRun(reason policy.Reason, change ...func(*journal.Run)) journal.Run {
	run := journal.Run{
		ID: "r1", Links: journal.Links{Log: "job 1"},
		Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", Passes: true}, {ID: "US-002"}}},
	}
	if reason != "" {
		run.Stop = &journal.RunStopped{Reason: reason}
	}
	for _, f := range change {
		f(&run)
	}
	return run
}

// unready makes the run's work proven and its pull request a draft.
func unready(run *journal.Run) {
	run.Tree, run.Published.Pull = "t1", &journal.PullOpened{Number: 2, Draft: true}
	run.Proofs = []journal.Proof{{Tree: "t1", Passed: true, Result: journal.Proven}}
}

// proven makes the run's work proven, with head h1.
func proven(run *journal.Run) {
	unready(run)
	run.Published.Pull.Draft, run.Head = false, "h1"
	run.Plan.UserStories = run.Plan.UserStories[:1]
}

func waiting(run *journal.Run) { run.Policy.Approval = true }

// Decide answers each command according to the state of the newest run.
func TestDecide(t *testing.T) {
	const begin, again, killed, by = "begin", "requested again", "an earlier job ended before the run did", "requested by ada"
	for _, c := range []struct {
		why   string
		asked verdict.Request
		old   journal.Run
		want  string // why the newest run continues, the refusal, or begin
	}{
		{"it was killed", verdict.Request{Verb: trigger.Run, SameTask: true}, stoppedRun(""), killed},
		{"stopped short", verdict.Request{Verb: trigger.Run, SameTask: true}, stoppedRun(policy.MaxIterations), again},
		{"done", verdict.Request{Verb: trigger.Run, SameTask: true}, stoppedRun(policy.AllStoriesPassed), begin},
		{"done, and as it was left", verdict.Request{Verb: trigger.Run, SameTask: true, SameRules: true, Pull: 2, PullHead: "h1"}, stoppedRun(policy.AllStoriesPassed, proven), "#2 is as ralph left it, and every story is proven. Ask for more with `/ralph -- your words`; `/ralph retry US-001` repeats"},
		{"done, and not as it was left", verdict.Request{Verb: trigger.Run, SameTask: true, SameRules: true, Pull: 2, PullHead: "h2"}, stoppedRun(policy.AllStoriesPassed, proven), begin},
		{"done, and not proven", verdict.Request{Verb: trigger.Run, SameTask: true, SameRules: true, Pull: 2, PullHead: "h1"}, stoppedRun(policy.AllStoriesPassed, proven, func(r *journal.Run) { r.Tree = "t2" }), begin},
		{"done, and a plan is wanted", verdict.Request{Verb: trigger.Plan, SameTask: true, SameRules: true, Pull: 2, PullHead: "h1"}, stoppedRun(policy.AllStoriesPassed, proven), begin},
		{"done, but for the pull request", verdict.Request{Verb: trigger.Run, SameTask: true}, stoppedRun(policy.AllStoriesPassed, unready), again},
		{"resumed when a draft is wanted", verdict.Request{Verb: trigger.Resume}, stoppedRun(policy.AllStoriesPassed, unready, func(r *journal.Run) { r.Policy.Draft = true }), "no unfinished run"},
		{"done by this very job", verdict.Request{Verb: trigger.Run, SameTask: true, JobURL: "job 1"}, stoppedRun(policy.AllStoriesPassed), again},
		{"would stop where it did", verdict.Request{Verb: trigger.Run, SameTask: true}, stoppedRun(policy.VerificationFailed), begin},
		{"resumed when done", verdict.Request{Verb: trigger.Resume}, stoppedRun(policy.AllStoriesPassed), "no unfinished run to continue. Ask for more with"},
		{"resumed where nothing was", verdict.Request{Verb: trigger.Resume}, journal.Run{}, "no unfinished run"},
		{"resumed before it was approved", verdict.Request{Verb: trigger.Resume}, stoppedRun(policy.NeedsInput, waiting), "not been approved"},
		{"tried again", verdict.Request{Verb: trigger.Retry}, stoppedRun(policy.Stalled), by},
		{"a story of it", verdict.Request{Verb: trigger.Retry, Story: "us-001"}, stoppedRun(policy.AllStoriesPassed), by},
		{"a story of it, and the pull request is open", verdict.Request{Verb: trigger.Retry, Story: "US-001", Pull: 2}, stoppedRun(policy.AllStoriesPassed, proven), by},
		{"a story of it, and the pull request is closed", verdict.Request{Verb: trigger.Retry, Story: "US-001"}, stoppedRun(policy.AllStoriesPassed, proven), "#2 is no longer open. `/ralph -- your words` starts a new run"},
		{"a story that is none", verdict.Request{Verb: trigger.Retry, Story: "US-009"}, stoppedRun(policy.Stalled), "There are: US-001, US-002"},
		{"two stories of it", verdict.Request{Verb: trigger.Retry, Story: "US-001", Words: "us-002, please"}, stoppedRun(policy.Stalled), "One story at a time: `/ralph retry US-001`"},
		{"approved", verdict.Request{Verb: trigger.Approve}, stoppedRun(policy.NeedsInput, waiting), "the plan was approved by ada"},
		{"approved before it was made", verdict.Request{Verb: trigger.Approve}, stoppedRun(policy.NeedsInput, waiting, func(r *journal.Run) { r.Planning.Vague = true }), "No plan waits"},
		{"approved instead of an answer", verdict.Request{Verb: trigger.Approve}, stoppedRun(policy.NeedsInput, waiting, func(r *journal.Run) { r.Planning.Asked = "Which?" }), "No plan waits"},
		{"an answer before there is a plan", verdict.Request{Verb: trigger.Resume}, stoppedRun(policy.NeedsInput, waiting, func(r *journal.Run) { r.Planning.Asked = "Which?" }), "requested by ada"},
		{"another job is at work", verdict.Request{Verb: trigger.Run, SameTask: true, Number: 7, BusyJobURL: "page"}, stoppedRun(""), "[A job](page) already works on this. `/ralph stop` ends it; then ask again."},
		{"another job is at work where comments are impossible", verdict.Request{Verb: trigger.Run, BusyJobURL: "page"}, journal.Run{}, "a job already works on this: page. Cancel it"},
		{"resumed when what was kept is in doubt", verdict.Request{Verb: trigger.Resume, Distrust: "it was changed"}, journal.Run{}, "Sorry, it was changed, so the run cannot continue."},
		{"approved unseen", verdict.Request{Verb: trigger.Approve, PlanHidden: true}, stoppedRun(policy.NeedsInput, waiting), "no longer showed this plan"},
		{"nothing to approve, and nothing seen", verdict.Request{Verb: trigger.Approve, PlanHidden: true}, journal.Run{}, "No plan waits"},
	} {
		if c.asked.Asker = "ada"; c.asked.Words == "" {
			c.asked.Words = "words"
		}
		got, way := begin, verdict.Decide(c.asked, c.old)
		switch {
		case way.ShowPlan != (c.why == "approved unseen"):
			t.Errorf("%s: the plan is to be shown again: %t", c.why, way.ShowPlan)
		case way.Resume != nil && way.Refuse != "":
			t.Errorf("%s: both %v and %q", c.why, way.Resume, way.Refuse)
		case way.Resume != nil:
			got = way.Resume.Why
		case way.Refuse != "":
			got = way.Refuse
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// A resumed run gets the words and the story of the request.
func TestDecidePassesOnTheRequest(t *testing.T) {
	old := stoppedRun(policy.NeedsInput)
	for verb, want := range map[trigger.Verb]journal.Resumed{
		trigger.Resume: {Why: "requested by ada", Words: "use Go"},
		trigger.Retry:  {Why: "requested by ada", Words: "use Go", Retry: []string{"US-002"}},
	} {
		way := verdict.Decide(verdict.Request{Verb: verb, Story: "US-002", Words: "use Go", Asker: "ada"}, old)
		if diff := cmp.Diff(&want, way.Resume); diff != "" {
			t.Errorf("%s (-want +got):\n%s", verb, diff)
		}
	}
	waiting(&old)
	way := verdict.Decide(verdict.Request{Verb: trigger.Approve, Asker: "ada"}, old)
	if diff := cmp.Diff(&journal.Resumed{Why: "the plan was approved by ada", Approved: "ada"}, way.Resume); diff != "" {
		t.Errorf("approve (-want +got):\n%s", diff)
	}
}

// A plan whose agent asks is made again once the question is answered, and not before.
func TestAPlanThatAsksWaits(t *testing.T) {
	run := fold(journal.RunBegan{Run: "r", Vague: true}, journal.PlanDrafted{By: "a", Question: "Which?"})
	if verdict.NeedsPlan(run) {
		t.Error("the plan is made again before the question is answered")
	}
}

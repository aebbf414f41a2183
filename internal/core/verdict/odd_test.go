package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Next returns a step for journals that lack events, which another or an older program may write.
func TestOddJournals(t *testing.T) {
	inSession := beginRunBy(policy.ByPromise, func(p *policy.Policy) {
		p.Session, p.Checks = policy.SessionRules{MinTools: 2, Cap: 1}, nil
	})
	supervised := beginRunBy(policy.ByFile, func(*policy.Policy) {})
	first, begin, second := journal.IterationBegan{Number: 1, Story: "US-001"}, journal.IterationBegan{Number: 1}, journal.IterationBegan{Number: 2}
	for name, test := range map[string]struct {
		events []journal.Event
		want   verdict.Step
	}{
		"a verdict on an iteration without an agent, then a promise": {
			[]journal.Event{inSession, begin, journal.IterationEnded{Number: 1}, second, journal.AgentEnded{Tools: 2, Promises: []string{"DONE"}}},
			verdict.Judge{Verdict: journal.IterationEnded{Number: 2, Green: true, Worked: true, Done: true}},
		},
		"nothing but a verdict on an iteration without an agent": {
			[]journal.Event{inSession, begin, journal.IterationEnded{Number: 1}},
			verdict.Iterate{Number: 1},
		},
		"a claim before the agent, which could not run, had ended": {
			[]journal.Event{
				beginRun(func(b *journal.RunBegan) { b.Policy.Checks = nil }), first,
				journal.PlanRead{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}, Claimed: []string{"US-001"}},
				journal.AgentEnded{CannotRun: true, Failed: true, Why: "no such program", Tools: 1},
			},
			verdict.Judge{Verdict: journal.IterationEnded{
				Number: 1, Story: "US-001", Green: true, Worked: true,
				Rejected: []journal.Rejection{{Claim: "US-001", Why: "the agent itself failed: no such program"}},
			}},
		},
		"a claim of an agent that could not run, and of which nothing was taken": {
			[]journal.Event{
				beginRun(func(*journal.RunBegan) {}), first,
				journal.PlanRead{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}}}, Claimed: []string{"US-001"}},
				journal.AgentEnded{CannotRun: true, Tools: 1},
			},
			verdict.Judge{Verdict: journal.IterationEnded{
				Number: 1, Story: "US-001", Worked: true, Rejected: []journal.Rejection{{Claim: "US-001", Why: "checks failed: "}},
			}},
		},
		"a supervised attempt with a verdict and no end": {
			[]journal.Event{supervised, begin, journal.IterationEnded{Number: 1}, journal.TaskLooked{}},
			verdict.Iterate{Number: 2},
		},
	} {
		if diff := cmp.Diff(test.want, verdict.Next(fold(test.events...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A claim of an empty promise is not rejected.
func TestAPlanWithoutAPromiseBreaksNone(t *testing.T) {
	run := fold(beginRun(func(*journal.RunBegan) {}),
		journal.IterationBegan{Number: 1, Story: "US-001"}, journal.AgentEnded{Tools: 1, Promises: []string{""}},
		journal.PlanRead{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}, {ID: "US-002"}}}},
		journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true},
		journal.CommitsTaken{From: "b0", To: "c1", Tree: "t1", Work: "t1"})
	want := verdict.Judge{Verdict: journal.IterationEnded{Number: 1, Story: "US-001", Green: true, Worked: true}}
	if diff := cmp.Diff(verdict.Step(want), verdict.Next(run)); diff != "" {
		t.Errorf("Next (-want +got):\n%s", diff)
	}
}

// A supervised agent that cannot run ends the run, even with a DONE file.
func TestSupervisedAgentThatCannotRun(t *testing.T) {
	run := fold(beginRunBy(policy.ByFile, func(*policy.Policy) {}), journal.IterationBegan{Number: 1},
		journal.AgentEnded{CannotRun: true, Failed: true, Why: "no such program"}, journal.IterationEnded{Number: 1}, journal.TaskLooked{Done: true})
	want := verdict.Stop{Stopped: journal.RunStopped{Reason: policy.FatalError, Why: "no such program"}}
	if diff := cmp.Diff(verdict.Step(want), verdict.Next(run)); diff != "" {
		t.Errorf("Next (-want +got):\n%s", diff)
	}
}

package verdict_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// claimed returns the events of an iteration that commits and claims US-001, up
// to the story's proof.
func claimed(number int, commit string) []journal.Event {
	return []journal.Event{
		journal.IterationBegan{Number: number, Story: "US-001"},
		journal.AgentEnded{Tools: 1},
		journal.PlanRead{Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001"}, {ID: "US-002"}}}, Claimed: []string{"US-001"}},
		journal.CheckEnded{Where: journal.AtWork, Name: "test", Passed: true},
		journal.CommitsTaken{From: "b0", To: commit, Tree: "tree-" + commit, Work: "tree-" + commit},
		journal.ProofEnded{Commit: commit, Tree: "tree-" + commit, Passed: true},
	}
}

func next(began journal.RunBegan, parts ...[]journal.Event) verdict.Step {
	events := []journal.Event{began}
	for _, part := range parts {
		events = append(events, part...)
	}
	return verdict.Next(fold(events...))
}

// A grade belongs to a commit: a story proven at another commit is graded again.
func TestAGradeIsOfACommit(t *testing.T) {
	graded := []journal.Event{journal.StoryGraded{Story: "US-001", Commit: "c1", Grade: journal.RedToGreen}}
	lost := []journal.Event{journal.IterationEnded{Number: 1, Story: "US-001"}}
	began := beginRun(func(*journal.RunBegan) {})
	for name, test := range map[string]struct{ got, want verdict.Step }{
		"none yet": {next(began, claimed(1, "c1")), verdict.Grade{Story: "US-001", Commit: "c1", Tree: "tree-c1"}},
		"this one": {next(began, claimed(1, "c1"), graded), verdict.Judge{Verdict: journal.IterationEnded{
			Number: 1, Story: "US-001", Green: true, Worked: true, Passed: []string{"US-001"},
		}}},
		"an earlier one": {next(began, claimed(1, "c1"), graded, lost, claimed(2, "c2")), verdict.Grade{Story: "US-001", Commit: "c2", Tree: "tree-c2"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A story whose change fails the inspection is neither graded nor passed.
func TestRejectedStoriesAreNotGraded(t *testing.T) {
	began := beginRun(func(b *journal.RunBegan) { b.Policy.Tamper = policy.TamperBlock })
	if diff := cmp.Diff(verdict.Step(verdict.Inspect{Commit: "c1", Tree: "tree-c1"}), next(began, claimed(1, "c1"))); diff != "" {
		t.Errorf("before the inspection (-want +got):\n%s", diff)
	}
	found := []journal.Event{journal.ChangeInspected{Commit: "c1", Tree: "tree-c1", Found: []journal.Loosened{{File: "a_test.go", Why: "it is skipped"}}}}
	want := verdict.Judge{Verdict: journal.IterationEnded{
		Number: 1, Story: "US-001", Green: true, Worked: true,
		Rejected: []journal.Rejection{{Claim: "US-001", Why: "existing tests fail or no longer run: a_test.go: it is skipped"}},
	}}
	if diff := cmp.Diff(verdict.Step(want), next(began, claimed(1, "c1"), found)); diff != "" {
		t.Errorf("after the inspection (-want +got):\n%s", diff)
	}
}

// Work that was finished before the run is inspected too, if there is any.
func TestFinishedWorkIsInspected(t *testing.T) {
	finished := func(start string) journal.RunBegan {
		return beginRun(func(b *journal.RunBegan) {
			b.Start, b.Tree, b.Policy.Tamper = start, "tree-"+start, policy.TamperBlock
			b.Policy.Publish, b.Policy.NoPull = true, true
			b.Plan.UserStories = []plan.Story{{ID: "US-001", Passes: true}}
		})
	}
	proven := func(start string) []journal.Event {
		return []journal.Event{journal.Pushed{SHA: start}, journal.ProofEnded{Commit: start, Tree: "tree-" + start, Passed: true}}
	}
	inspected := func(found ...journal.Loosened) []journal.Event {
		return []journal.Event{journal.ChangeInspected{Commit: "s0", Tree: "tree-s0", Found: found}}
	}
	stopped := func(reason policy.Reason, why string) verdict.Step {
		return verdict.Stop{Stopped: journal.RunStopped{Reason: reason, Why: why}}
	}
	own := finished("s0")
	own.Policy.Publish = false
	for name, test := range map[string]struct{ got, want verdict.Step }{
		"of an earlier run in the user's own tree": {next(own, proven("s0"), inspected()), stopped(policy.NothingToDo, "every story is marked as passed, and no file was changed")},
		"unseen": {next(finished("s0"), proven("s0")), verdict.Inspect{Commit: "s0", Tree: "tree-s0"}},
		"sound":  {next(finished("s0"), proven("s0"), inspected()), stopped(policy.AllStoriesPassed, "")},
		"weakened tests": {
			next(finished("s0"), proven("s0"), inspected(journal.Loosened{File: "a_test.go", Why: "it is gone"})),
			stopped(policy.VerificationFailed, "existing tests fail or no longer run: a_test.go: it is gone"),
		},
		"no work": {next(finished("b0"), proven("b0")), stopped(policy.NothingToDo, "every story is marked as passed, and no file was changed")},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A cancelled run reads the plan once and takes the agent's work. It saves nothing
// if the agent had not ended.
func TestCancelSavesTheWork(t *testing.T) {
	cancelled := []journal.Event{journal.CancelAsked{Why: "SIGINT"}}
	began := beginRun(func(*journal.RunBegan) {})
	whole := claimed(1, "c1")
	for name, test := range map[string]struct{ got, want verdict.Step }{
		"before the agent ended":  {next(began, whole[:1], cancelled), verdict.Stop{Stopped: journal.RunStopped{Reason: policy.Cancelled, Why: "SIGINT"}}},
		"after it ended":          {next(began, whole[:2], cancelled), verdict.ReadPlan{}},
		"after the plan was read": {next(began, whole[:3], cancelled), verdict.TakeCommits{Leftovers: true}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A limit of 1 stops the run.
func TestLimitsOfOne(t *testing.T) {
	failed := []journal.Event{
		journal.IterationBegan{Number: 1, Story: "US-001"}, journal.AgentEnded{Failed: true, Why: "boom"}, journal.IterationEnded{Number: 1, Story: "US-001"},
	}
	for name, test := range map[string]struct {
		limit func(*policy.Limits)
		want  journal.RunStopped
	}{
		"failures": {func(l *policy.Limits) { l.Failures = 1 }, journal.RunStopped{Reason: policy.FatalError, Why: "the agent failed 1 times in a row: boom"}},
		"stall":    {func(l *policy.Limits) { l.Stall = 1 }, journal.RunStopped{Reason: policy.Stalled, Why: "1 iterations in a row left the same tree and the same result"}},
	} {
		if diff := cmp.Diff(verdict.Step(verdict.Stop{Stopped: test.want}), next(limited(test.limit), failed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

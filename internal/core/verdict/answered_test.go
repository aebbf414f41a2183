package verdict_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/verdict"
)

// Only a story from a review can pass by an answer, and only if nothing changed.
func TestAStoryIsAnswered(t *testing.T) {
	remark := plan.Remark{Thread: 1, Path: "a.go", Line: 1, By: "mia", Text: "Why?"}
	for why, c := range map[string]struct {
		change func(*journal.Run)
		want   string
	}{
		"in words": {func(*journal.Run) {}, "Because."},
		"of a check": {func(r *journal.Run) {
			check := plan.Remark{Text: "The check `unit` passes."}
			r.Task.Remarks, r.Plan.UserStories[0].AcceptanceCriteria = []plan.Remark{check}, []string{check.Criterion()}
		}, ""},
		"of another story":   {func(r *journal.Run) { r.Iterations[0].Ended.Passed = []string{"US-002"} }, ""},
		"without words":      {func(r *journal.Run) { r.Iterations[0].Agent.Response = "" }, ""},
		"with a commit":      {func(r *journal.Run) { r.Iterations[0].Taken.To = "c2" }, ""},
		"with work left":     {func(r *journal.Run) { r.Iterations[0].Taken.Dirty = true }, ""},
		"with refused work":  {func(r *journal.Run) { r.Iterations[0].Taken.Refused = []journal.Finding{{Why: "a secret"}} }, ""},
		"and then worked on": {func(r *journal.Run) { r.Iterations = append(r.Iterations, iterationWithCommit(2)) }, ""},
		"and worked on first": {func(r *journal.Run) {
			r.Iterations = append([]journal.Iteration{iterationWithCommit(0)}, r.Iterations...)
		}, ""},
	} {
		run := journal.Run{
			Task: plan.Task{Remarks: []plan.Remark{remark}},
			Plan: plan.Plan{UserStories: []plan.Story{{ID: "US-001", Passes: true, AcceptanceCriteria: []string{remark.Criterion()}}}},
			Iterations: []journal.Iteration{{
				Number: 1, Story: "US-001", Agent: &journal.AgentEnded{Response: "Because."},
				Taken: &journal.CommitsTaken{From: "c1", To: "c1"}, Ended: &journal.IterationEnded{Passed: []string{"US-001"}},
			}},
		}
		c.change(&run)
		if got := verdict.ReviewAnswer(run, "US-001"); got != c.want {
			t.Errorf("%s: the answer is %q, want %q", why, got, c.want)
		}
	}
}

// iterationWithCommit returns an iteration that ends with a commit.
func iterationWithCommit(number int) journal.Iteration {
	return journal.Iteration{
		Number: number, Story: "US-001", Agent: &journal.AgentEnded{},
		Taken: &journal.CommitsTaken{From: "c1", To: "c2"}, Ended: &journal.IterationEnded{Passed: []string{"US-001"}},
	}
}

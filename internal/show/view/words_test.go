package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// The next step for a pull request depends on whether it is a draft, and why.
func TestWhatToDoAboutAPullRequest(t *testing.T) {
	for want, change := range map[string]func(*journal.Run){
		"review the draft pull request and mark it as ready": func(*journal.Run) {},
		"name commands that verify the work: `guardrails` in `.ralph/settings.json`, or `--check`; then comment `/ralph`, or read the diff of the draft pull request and mark it as ready if it is right": func(r *journal.Run) {
			r.Proofs[1].Result = journal.Unknown
		},
		"read the lines marked ❗ in the draft pull request, and the code that they name; if the change is right, mark it as ready, or set `tamper: allow`": func(r *journal.Run) {
			r.Proofs[1].Result, r.Proofs[1].Why = journal.NeedsReview, "the tests of the base fail on the new code: TestA"
		},
		"review the changes; if they are right, set `tamper: allow`": func(r *journal.Run) {
			r.Published.Pull, r.Proofs[0].Result, r.Proofs[0].Why = nil, journal.NeedsReview, "the checks pass only with changed check files: `Makefile`"
		},
		"read the lines marked ❗ in the draft pull request, and the code that they name; if the change is right, mark it as ready, else comment `/ralph -- what is missing`": func(r *journal.Run) { r.Proofs[1].Restored = []string{"CODEOWNERS"} },
	} {
		run := journal.Run{
			Tree: "t1", Published: journal.Published{Pull: &journal.PullOpened{Number: 3, Draft: true}}, Stop: &journal.RunStopped{Reason: policy.AllStoriesPassed},
			Plan:       plan.Plan{UserStories: []plan.Story{{ID: "US-001", Passes: true}}},
			Proofs:     provenTree("US-001"),
			Iterations: []journal.Iteration{{Number: 1, Story: "US-001", Ended: &journal.IterationEnded{Passed: []string{"US-001"}}}},
		}
		if change(&run); !strings.HasSuffix(view.Text(run, false), "\nnext: "+want+"\n") {
			t.Errorf("Text = %q, want %q", view.Text(run, false), want)
		}
	}
}

// provenTree returns the proofs of some stories, and of the whole change.
func provenTree(stories ...string) (all []journal.Proof) {
	for _, story := range append(stories, "") {
		all = append(all, journal.Proof{Story: story, Tree: "t1", Passed: true, Result: journal.Proven})
	}
	return all
}

// A headline calls only verified work done, and says if no file was changed or no check
// ran.
func TestHeadlineSaysNoMoreThanIsShown(t *testing.T) {
	for want, change := range map[string]func(*journal.Run){
		"done, every story passed and the checks passed again on a clean checkout": func(r *journal.Run) { r.Proofs[1].Result = journal.Proven },
		"ready for review: #3": func(r *journal.Run) {
			r.Proofs[1].Result, r.Published.Pull = journal.Proven, &journal.PullOpened{Number: 3}
		},
		"needs review: no test shows that US-002 works": func(*journal.Run) {},
		"needs review: protected files were changed": func(r *journal.Run) {
			r.Proofs[1].Result, r.Proofs[2].Restored = journal.Proven, []string{"CODEOWNERS"}
		},
		"needs review: nothing was changed for US-002, check that it works": func(r *journal.Run) {
			r.Proofs[1] = journal.Proof{Story: "US-002", Tree: "t1", Passed: true, Result: journal.NoNewFailingTest, Idle: true, Held: []string{"TestA"}}
		},
		"needs review: the tests of the base fail on the new code: TestA": func(r *journal.Run) {
			r.Proofs[2].Result, r.Proofs[2].Why = journal.NeedsReview, "the tests of the base fail on the new code: TestA"
		},
		"finished, but nothing was verified: no check is configured": func(r *journal.Run) { r.Proofs[2].Result = journal.Unknown },
		"needs review: no test shows that US-001, US-002 works":      func(r *journal.Run) { r.Proofs = r.Proofs[2:] },
		"completed, all checks passed": func(r *journal.Run) {
			r.Stop.Reason = policy.AllChecksPassed
		},
		"completed, all checks passed; no file was changed": func(r *journal.Run) {
			r.Stop.Reason, r.Iterations[1].Taken.Work = policy.AllChecksPassed, "w0"
		},
		"completed, the checks passed and the agent said that it is done": func(r *journal.Run) {
			r.Stop.Reason, r.Policy.Checks = policy.ResponseMatched, []policy.Check{{Name: "test"}}
		},
		"completed, the agent said that it is done, and no check was configured; no file was changed": func(r *journal.Run) {
			r.Stop.Reason, r.Iterations[1].Taken.Work = policy.ResponseMatched, "w0"
		},
		"stopped, out of iterations": func(r *journal.Run) {
			r.Stop.Reason, r.Iterations[1].Taken.Work = policy.MaxIterations, "w0"
		},
		"completed, the agent said that it is done, and no check ran": func(r *journal.Run) {
			r.Stop.Reason, r.Policy.Done, r.Work = policy.PromiseAccepted, policy.ByPromise, ""
		},
	} {
		run := journal.Run{
			Tree: "t1", Work: "w0", Stop: &journal.RunStopped{Reason: policy.AllStoriesPassed},
			Plan:   plan.Plan{UserStories: []plan.Story{{ID: "US-001", Passes: true}, {ID: "US-002", Passes: true}}},
			Proofs: provenTree("US-001", "US-002"),
			Iterations: []journal.Iteration{
				{Number: 1, Story: "US-001", Taken: &journal.CommitsTaken{Work: "w0"}, Ended: &journal.IterationEnded{Passed: []string{"US-001"}}},
				{Number: 2, Story: "US-002", Taken: &journal.CommitsTaken{Work: "w1"}, Ended: &journal.IterationEnded{Passed: []string{"US-002"}}},
			},
		}
		run.Proofs[1].Result = journal.NoNewFailingTest
		if change(&run); view.Headline(run) != want {
			t.Errorf("Headline = %q, want %q", view.Headline(run), want)
		}
	}
}

// The newest refusals of the sandbox are shown with the input that would allow them.
func TestRefusals(t *testing.T) {
	var run journal.Run
	for i := range 22 {
		run.Box.Refused = append(run.Box.Refused, journal.EgressRefused{What: fmt.Sprintf("a%02d.example:443", i), Why: "not on the list", Input: fmt.Sprintf("allow: a%02d.example", i)})
	}
	run.Box.Refused[21].Input = ""
	comment := view.Of(run).Comment
	for _, want := range []string{"2 older ones are in the journal", "`a02.example:443`: not on the list; this would allow it: `allow: a02.example`", "`a21.example:443`: not on the list\n"} {
		if !strings.Contains(comment, want) {
			t.Errorf("no %q in\n%s", want, comment)
		}
	}
	if strings.Contains(comment, "a01.example") {
		t.Errorf("what is older is shown:\n%s", comment)
	}
}

package evidence_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/show/evidence"
	"github.com/ralph-loop/ralph/internal/testsupport/journaltest"
)

// from returns the evidence of a journal.
func from(t *testing.T, lines ...string) evidence.Evidence {
	t.Helper()
	return evidence.Of(journaltest.Run(t, []byte(strings.Join(lines, "\n"))), nil)
}

// The evidence of a run without an end has the facts until then.
func TestOfARunThatWasCutOff(t *testing.T) {
	e := from(t, `{"type":"iteration_began","number":1,"story":"US-001"}`)
	if e.Baseline != nil || e.Proof != nil || e.Status != policy.StatusRunning || e.StopReason != "" {
		t.Errorf("it rests on what was not: baseline %v, proof %v, %s %s", e.Baseline, e.Proof, e.Status, e.StopReason)
	}
	want := []string{"the newest commit was not checked on a clean checkout", "US-001 is open", "US-002 is open"}
	if diff := cmp.Diff(want, e.NotVerified); diff != "" {
		t.Errorf("not verified (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]evidence.Iteration{{Number: 1, Story: "US-001", Checks: []evidence.CheckResult{}}}, e.Iterations); diff != "" {
		t.Errorf("iterations (-want +got):\n%s", diff)
	}
	if e.Stories[0].Proof != nil || e.Stories[0].Commit != "" {
		t.Errorf("a story rests on %+v", e.Stories[0])
	}
}

// The evidence has the commits of an iteration, and the results and the setup of the proof.
func TestOfAProofThatFailed(t *testing.T) {
	e := from(t,
		`{"type":"run_began","policy":{"model":"large","checks":[{"name":"test","command":"make test","timeout":"5m"}]}}`,
		`{"type":"iteration_began","number":1,"story":"US-001"}`,
		`{"type":"agent_ended","tools":3}`,
		`{"type":"commits_taken","from":"b0","to":"c2","tree":"t2","work":"t2","commits":[{"sha":"c1","subject":"one"},{"sha":"c2","subject":"two"}],"dropped":["CODEOWNERS"]}`,
		`{"type":"setup_ended","where":"head","name":"npm ci","command":"npm ci","passed":true,"took_ms":7}`,
		`{"type":"check_ended","where":"head","name":"test","command":"make test","exit":2}`,
		`{"type":"proof_ended","base":"b0","commit":"c2","tree":"t2","result":"failed","why":"test failed (exit 2)"}`,
	)
	if got := e.Tools["model"]; got != "large" {
		t.Errorf("model = %q", got)
	}
	if want := (evidence.Command{Name: "test", Command: "make test", Timeout: "5m"}); !slices.Equal(e.Rules.Checks, []evidence.Command{want}) {
		t.Errorf("checks = %+v, want %+v", e.Rules.Checks, want)
	}
	it := e.Iterations[0]
	if !slices.Equal(it.Commits, []string{"c1", "c2"}) || !slices.Equal(it.Dropped, []string{"CODEOWNERS"}) || it.Tools != 3 {
		t.Errorf("iteration = %+v", it)
	}
	if diff := cmp.Diff([]evidence.CheckResult{{Name: "npm ci", Command: "npm ci", Passed: true, TookMS: 7}}, e.Proof.Setup); diff != "" {
		t.Errorf("setup (-want +got):\n%s", diff)
	}
	if !slices.Contains(e.NotVerified, "test failed (exit 2)") {
		t.Errorf("not verified = %q", e.NotVerified)
	}
	if s := e.Stories[0]; s.Proof != nil || s.Commit != "" || !slices.Equal(s.Iterations, []int{1}) {
		t.Errorf("the story rests on a proof that failed: %+v", s)
	}
}

// A story that passed before the run is not listed as not verified.
func TestOfAStoryThatPassedBefore(t *testing.T) {
	e := from(t, `{"type":"run_began","plan":{"userStories":[{"id":"US-001","title":"A cart","acceptanceCriteria":["adds"],"passes":true}]}}`)
	if want := []string{"the newest commit was not checked on a clean checkout"}; !slices.Equal(e.NotVerified, want) {
		t.Errorf("not verified = %q, want %q", e.NotVerified, want)
	}
}

// A story has its second opinion with the objections, if there is one.
func TestOfAReview(t *testing.T) {
	e := from(t, `{"type":"story_reviewed","story":"US-001","commit":"c1","by":"codex","looked":2,"missed":[{"criterion":1,"why":"it adds nothing","file":"cart.go","line":3,"quote":"x"}]}`)
	review := e.Stories[0].Review
	if review == nil || review.By != "codex" || review.Commit != "c1" || review.Looked != 2 || !slices.Equal(review.Missed, []string{"criterion 1: it adds nothing (cart.go:3)"}) {
		t.Errorf("review = %+v", review)
	}
	if e.Stories[1].Review != nil {
		t.Errorf("a review that does not exist: %+v", e.Stories[1].Review)
	}
}

// A criterion that the agent added is marked.
func TestAnAgentsOwnCriterion(t *testing.T) {
	read := `{"type":"plan_read","claimed":["US-001"],"plan":{"userStories":[{"id":"US-001","title":"A","acceptanceCriteria":["a","anything else"]},{"id":"US-003","title":"C","acceptanceCriteria":["a"]}]}}`
	begun := `{"type":"run_began","plan":{"userStories":[{"id":"US-001","title":"A","acceptanceCriteria":["a"]}]}}`
	e := from(t, append([]string{begun, `{"type":"iteration_began","number":1,"story":"US-001"}`, read}, strings.Split(read, "\n")...)...)
	if diff := cmp.Diff([]string{"anything else"}, e.Stories[0].Added); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if e.Stories[1].Added != nil || len(e.Stories[0].Criteria) != 2 {
		t.Errorf("stories = %+v", e.Stories)
	}
}

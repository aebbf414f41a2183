package main_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// finish is the step that a job has for the case that the one before was killed.
func (s *issueJob) finish(want string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "ralph", "action", "--finish")
	cmd.Env = s.env
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), want) {
		s.t.Errorf("%v: it said %q, want %q", err, said, want)
	}
}

// shown returns the progress comment.
func (s *issueJob) shown() string {
	s.t.Helper()
	comments := s.progress(s.issue)
	if len(comments) != 1 {
		s.t.Fatalf("comments %+v, want one", comments)
	}
	return comments[0].Body
}

// A job that was killed has its last word from another step, and the run is
// gone on with all the same.
func TestFinish(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t)
	s.killed(death{Event: "iteration_began", Nth: 2})
	if strings.Contains(s.shown(), "killed") {
		t.Fatalf("it says so already: %s", s.shown())
	}
	s.finish("its comment says so now")
	for _, want := range []string{"Cancelled", "its job was killed", "1 of 3 proven", "`/ralph resume`"} {
		if !strings.Contains(s.shown(), want) {
			t.Errorf("the comment does not say %q: %s", want, s.shown())
		}
	}
	if issue, _ := s.Issue(shop, s.issue); !slices.Equal(issue.Labels, []string{"ralph:stopped"}) {
		t.Errorf("labels %v, want that it stopped", issue.Labels)
	}
	if kept := s.must("ls-tree", "--name-only", "refs/ralph/issue-1"); strings.Contains(kept, "lease.json") {
		t.Errorf("the lease stands: %q", kept)
	}
	s.well()
}

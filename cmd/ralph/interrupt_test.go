package main_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
)

// TestInterrupt asks the program to end while an agent works, with something of the agent's in the background that
// will not hear of it. TestStopAsked has an agent that does not hear it either.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t, patient)
	l := s.begin()
	s.until("the agent is at work", s.hung)
	if err := l.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.end(l); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	s.saved()
	s.well()
}

// deafen has the first agent pass over SIGTERM.
func (s *issueJob) deafen() {
	path := s.path("script.txtar")
	s.write(path, strings.Replace(readFile(s.t, path), "-- 1/hang --", "-- 1/hang-ignoring-term --", 1))
}

// saved is what must be so after an interruption: the half thought is on the
// branch, and people are told.
func (s *issueJob) saved() {
	t := s.t
	t.Helper()
	run := s.run()
	if run.Stop == nil || run.Stop.Reason != policy.Cancelled {
		t.Fatalf("the run stopped as %+v, want cancelled", run.Stop)
	}
	if head := s.must("rev-parse", run.Branch); head != run.Head || run.Published.Pushed != run.Head {
		t.Errorf("the branch stands at %s, the journal at %s, pushed %s", head, run.Head, run.Published.Pushed)
	}
	if !slices.Contains(s.files(run.Branch), "notes.txt") {
		t.Errorf("files %q, want the work that was under way", s.files(run.Branch))
	}
	comments := s.progress(s.issue)
	if len(comments) != 1 || !strings.Contains(comments[0].Body, "Cancelled") || !strings.Contains(comments[0].Body, "`/ralph resume`") {
		t.Errorf("comments %+v, want one that says cancelled and how to go on", comments)
	}
	if len(s.Pulls(shop)) != 0 {
		t.Errorf("pull requests %+v, want none for work that passed nothing", s.Pulls(shop))
	}
}

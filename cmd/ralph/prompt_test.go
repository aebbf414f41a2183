package main_test

import (
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// asks has somebody start a workflow with a prompt, instead of the issue.
func (s *scene) asks(prompt string) {
	s.t.Helper()
	payload, err := s.DispatchEvent(githubtest.Event{Repo: shop, Sender: maintainer}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	env, err := s.job("workflow_dispatch", maintainer, payload)
	if err != nil {
		s.t.Fatal(err)
	}
	s.env = append(append(s.env, env...), "INPUT_PROMPT="+prompt)
}

// A run without an issue whose job is killed continues on another machine, when
// the same is asked again; the next step releases its lease.
func TestAPromptIsKilled(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	issue, _ := s.Issue(shop, s.issue)
	s.asks(issue.Title + "\n\n" + issue.Body)
	s.killed(death{Event: "iteration_began", Nth: 2})
	ref := s.must("for-each-ref", "--format=%(refname)", "refs/ralph/")
	if !strings.HasPrefix(ref, "refs/ralph/run-") || strings.Contains(ref, "\n") {
		t.Fatalf("it is kept on %q, want one refs/ralph/run-", ref)
	}
	if kept := s.must("ls-tree", "--name-only", ref); !strings.Contains(kept, "lease.json") || !strings.Contains(kept, "journal.jsonl") {
		t.Errorf("kept are %q, want a lease and a journal", kept)
	}
	s.finish("the run was killed")
	if kept := s.must("ls-tree", "--name-only", ref); strings.Contains(kept, "lease.json") {
		t.Errorf("the lease stands: %q", kept)
	}
	s.elsewhere()
	issue, _ = s.Issue(shop, s.issue)
	s.asks(issue.Title + "\n\n" + issue.Body)
	if code := s.end(s.begin()); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	if run := s.run(); !run.IsCompleted() || run.Clock.Resumed != 1 {
		t.Errorf("run %s: stopped %+v, gone on with %d times, want complete and once", run.ID, run.Stop, run.Clock.Resumed)
	}
}

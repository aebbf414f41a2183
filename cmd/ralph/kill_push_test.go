package main_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// rule REF WHY… has GitHub refuse every push to refs that begin so.
func (v *scriptGitHub) rule(args []string) (string, error) {
	v.keepGate(func(push githubtest.Push) string {
		if strings.HasPrefix(push.Ref, args[0]) {
			return strings.Join(args[1:], " ")
		}
		return ""
	})
	return "", nil
}

func (t *gitHub) keepGate(gate func(githubtest.Push) string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gate = gate
}

// pushKill is a kill -9 while GitHub has a push in its hands.
type pushKill struct {
	nth  int
	done bool // GitHub carries it out, and its answer is lost
}

func (k pushKill) String() string {
	return fmt.Sprintf("%d done=%t", k.nth, k.done)
}

// killedAtPush lives a life to its end in a push.
func (s *issueJob) killedAtPush(k pushKill) {
	s.t.Helper()
	pid := make(chan int, 1)
	var mu sync.Mutex
	count := 0
	s.keepGate(func(githubtest.Push) string {
		mu.Lock()
		defer mu.Unlock()
		if count++; count != k.nth {
			return ""
		}
		_ = syscall.Kill(<-pid, syscall.SIGKILL)
		if k.done {
			return ""
		}
		return "the line was cut"
	})
	l := s.begin()
	pid <- l.Process.Pid
	if code := s.end(l); code != -1 {
		s.t.Fatalf("exit %d: no process was killed at push %d", code, k.nth)
	}
	s.keepGate(nil)
}

// pushes counts those of an undisturbed run: of the branch, and to the ref that
// saves the run.
func pushesOf(t *testing.T) int {
	t.Helper()
	s := newIssueJob(t, steady)
	var mu sync.Mutex
	count := 0
	s.keepGate(func(githubtest.Push) string {
		mu.Lock()
		defer mu.Unlock()
		count++
		return ""
	})
	s.well()
	return count
}

// elsewhere takes the machine away: the next life knows what GitHub keeps.
func (s *issueJob) elsewhere() {
	s.t.Helper()
	if err := errors.Join(os.RemoveAll(s.path("workspace")), os.MkdirAll(s.path("workspace"), 0o755)); err != nil {
		s.t.Fatal(err)
	}
}

// branch returns where the work stands on GitHub; empty where there is none.
func (s *issueJob) branch() string {
	s.t.Helper()
	return s.must("for-each-ref", "--format=%(objectname)", "refs/heads/ralph/")
}

// carried is what must be so once another machine has gone on: it stands on top
// of all that was pushed before, and is there once. Where the comment vouches
// for what was kept last it is also done; else it is begun anew, or from what was
// kept before, on that branch.
func (s *issueJob) carried() {
	s.t.Helper()
	before, kept, vouched := s.branch(), s.must("for-each-ref", "--format=%(objectname)", "refs/ralph/"), false
	for _, comment := range s.progress(s.issue) {
		vouched = vouched || kept != "" && strings.Contains(comment.Body, "ralph:kept "+kept)
	}
	s.elsewhere()
	if code := s.end(s.begin()); code != 0 {
		s.t.Errorf("exit %d, want 0", code)
	}
	if run := s.run(); run.Stop == nil || vouched && run.Stop.Reason != policy.AllStoriesPassed {
		s.t.Errorf("the run ended as %+v, want all stories passed", run.Stop)
	}
	if pulls, comments := s.Pulls(shop), s.progress(s.issue); len(pulls) != 1 || len(comments) != 1 {
		s.t.Errorf("%d pull requests and %d progress comments, want one each", len(pulls), len(comments))
	}
	if before == "" {
		return
	}
	if _, err := s.git("merge-base", "--is-ancestor", before, s.branch()); err != nil {
		s.t.Errorf("the branch does not hold %s any more, which was pushed before: %v", before, err)
	}
}

// TestKillAtAPush kills the program while GitHub has one of its pushes in hand:
// the lease that is taken, each commit, each state that is kept, the last. What
// comes after goes on from there, on the same machine and on another.
func TestKillAtAPush(t *testing.T) {
	t.Parallel()
	all := pushesOf(t)
	if all < 6 {
		t.Fatalf("%d pushes in a run, want a lease, its commits and its states", all)
	}
	for nth := 1; nth <= all; nth++ {
		for _, k := range []pushKill{{nth: nth}, {nth: nth, done: true}} {
			t.Run(k.String(), func(t *testing.T) {
				t.Parallel()
				s := newIssueJob(t, steady) // an iteration may be another one there
				s.killedAtPush(k)
				if nth%2 == 0 {
					s.well()
					return
				}
				s.carried()
			})
		}
	}
}

// TestTwoAtOnce has two jobs reach for one issue at the same moment: one works,
// and the other says that it does not.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t)
	var both sync.WaitGroup
	both.Add(2)
	var mu sync.Mutex
	arrived := 0
	s.keepGate(func(push githubtest.Push) string {
		if !strings.HasPrefix(push.Ref, "refs/ralph/") {
			return ""
		}
		mu.Lock()
		arrived++
		race := arrived <= 2
		mu.Unlock()
		if race { // each has looked, and found no run
			both.Done()
			both.Wait()
		}
		return ""
	})
	second := s.path("elsewhere")
	if err := os.MkdirAll(second, 0o755); err != nil {
		t.Fatal(err)
	}
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 2, Status: "in_progress"})
	one, other := s.begin(), s.begin("GITHUB_WORKSPACE="+second, "GITHUB_RUN_ID=2")
	_ = one.Wait()
	if codes := []int{one.ProcessState.ExitCode(), s.end(other)}; slices.Max(codes) != 0 {
		t.Errorf("exit %v, want 0: it is no failure that another is quicker", codes)
	}
	declined := 0
	for _, l := range []*life{one, other} {
		said, err := os.ReadFile(l.log)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(said), "not started: Another job started work on this at the same moment") {
			declined++
		}
	}
	if pulls, comments := s.Pulls(shop), s.progress(s.issue); declined != 1 || len(pulls) != 1 || len(comments) != 1 {
		t.Errorf("%d declined, %d pull requests, %d progress comments; want one each", declined, len(pulls), len(comments))
	}
}

// TestStopAsked has somebody ask for the end of a job that is at work: it is
// cancelled as GitHub does that, and has closed everything before it is killed.
func TestStopAsked(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t, patient)
	s.deafen()
	l := s.begin()
	s.until("the agent is at work", s.hung)
	s.cancels(l.Cmd)
	comment := s.AddComment(shop, githubtest.Comment{Issue: s.issue, Author: maintainer, Body: "/ralph stop"})
	payload, err := s.CommentEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, comment.ID)
	if err != nil {
		t.Fatal(err)
	}
	asks, err := s.job("issue_comment", maintainer, payload)
	if err != nil {
		t.Fatal(err)
	}
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 1, Status: "in_progress"})
	second := s.path("elsewhere")
	if err := os.MkdirAll(second, 0o755); err != nil {
		t.Fatal(err)
	}
	asker := s.begin(append(asks, "GITHUB_WORKSPACE="+second)...)
	_ = asker.Wait()
	if code := asker.ProcessState.ExitCode(); code != 0 {
		t.Errorf("who asked ends with %d, want 0", code)
	}
	if code := s.end(l); code != 130 {
		t.Errorf("exit %d, want 130: it did not hear of it", code)
	}
	if run := s.run(); run.Stop == nil || run.Stop.Reason != policy.Cancelled || run.Published.Pushed != run.Head || !slices.Contains(s.files(run.Branch), "notes.txt") {
		t.Errorf("the run stopped as %+v at %s, pushed %s; want its work kept", run.Stop, run.Head, run.Published.Pushed)
	}
	if ours := s.progress(s.issue); len(ours) != 1 || !strings.Contains(ours[0].Body, "Cancelled") {
		t.Errorf("comments %+v, want one that says cancelled", ours)
	}
}

// cancels asks a job to end when GitHub is asked to. GitHub itself sends another
// signal after 7.5 s and ends it after 10; a busy machine may take longer.
func (s *issueJob) cancels(job *exec.Cmd) {
	s.visit(func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/actions/runs/1/cancel") {
			_ = job.Process.Signal(syscall.SIGINT)
		}
	})
}

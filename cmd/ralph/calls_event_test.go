package main_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// callsRow is a row of the table in docs/dev/performance.md: what happens, and how many calls of
// GitHub's API it takes.
var callsRow = regexp.MustCompile(`(?m)^\| ([^|]+?) \| (\d+) \|$`)

// Each event after the pull request is open takes as many calls of GitHub's API as the
// docs say, and none where there is nothing to do.
func TestCallsPerEvent(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/dev/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Calls per event\n")
	want := map[string]string{}
	for _, row := range callsRow.FindAllStringSubmatch(table, -1) {
		want[row[1]] = row[2]
	}
	s := newRedScene(t)
	got := map[string]string{}
	handled := func(what string) {
		t.Helper()
		before := s.calls()
		if code := s.end(s.begin()); code != 0 {
			t.Fatalf("%s: exit %d, want 0", what, code)
		}
		got[what] = fmt.Sprint(s.calls() - before)
	}
	sha := func() string {
		pull, _ := s.Pull(shop, s.issue)
		return pull.HeadSHA
	}
	s.tells("workflow_run", sha(), "success")
	handled("CI is green")
	s.tells("workflow_run", "0123456789012345678901234567890123456789", "failure")
	handled("an older head is red")
	s.SetStatus(shop, githubtest.Status{SHA: sha(), Context: "ci/outside", State: "success"})
	s.tells("check_suite", sha(), "failure")
	handled("nothing is red any more")
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 800, Status: "completed", Conclusion: "failure"})
	s.AddCheckRun(shop, githubtest.CheckRun{SHA: sha(), Name: "unit", Conclusion: "failure", Run: 800, Log: "FAIL: work"})
	s.tells("workflow_run", sha(), "failure")
	handled("a job is red: a whole run with one iteration")
	review := s.AddReview(shop, s.issue, githubtest.Review{Author: maintainer, State: "CHANGES_REQUESTED"}, githubtest.ReviewComment{Path: "work", Line: 1, Body: "Mend it."})
	payload, err := s.ReviewEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, review.ID)
	s.starts("pull_request_review", payload, err)
	handled("a review with one thread: a whole run with one iteration and no commit")
	s.SetDraft(shop, s.issue, false) // by a person: nothing was done
	other := s.AddPull(shop, githubtest.Pull{Title: "Other", Body: trigger.PullMarker + "\n", Head: "ralph/other", Author: bot})
	s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.State, i.MergedAt = "closed", time.Now() })
	s.pulled("closed")
	handled("merged")
	s.issue = other.Number
	s.EditIssue(shop, s.issue, func(i *githubtest.Issue) { i.State = "closed" })
	s.pulled("closed")
	handled("closed")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls of an event (-docs +measured):\n%s", diff)
	}
}

// calls counts those of the API.
func (s *scene) calls() (n int) {
	for _, times := range s.asked() {
		n += times
	}
	return n
}

// tells starts the job of an event of CI.
func (s *scene) tells(kind, sha, conclusion string) {
	s.t.Helper()
	payload, err := s.CIEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, kind, sha, conclusion)
	s.starts(kind, payload, err)
}

// pulled starts the job of an event of the pull request.
func (s *scene) pulled(action string) {
	s.t.Helper()
	payload, err := s.PullEvent(githubtest.Event{Repo: shop, Issue: s.issue, Sender: maintainer}, action)
	s.starts("pull_request", payload, err)
}

func (s *scene) starts(event string, payload []byte, err error) {
	s.t.Helper()
	env, wrong := s.job(event, maintainer, payload)
	if err = errors.Join(err, wrong); err != nil {
		s.t.Fatal(err)
	}
	s.env = append(s.env, env...)
}

// moveOn puts a commit of a person on the branch of the pull request.
func (s *scene) moveOn() {
	s.t.Helper()
	pull, _ := s.Pull(shop, s.issue)
	commit := s.must("commit-tree", "-m", "by hand", "-p", pull.HeadSHA, pull.HeadSHA+"^{tree}")
	s.must("update-ref", "refs/heads/"+pull.Head, commit)
}

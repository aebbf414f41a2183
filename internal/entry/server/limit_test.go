package server_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// The limit of one account holds up no other one.
func TestALimitedAccountKeepsNoWorker(t *testing.T) {
	s := newScene(t)
	s.AddRepo(githubtest.Repo{Owner: "loud", Name: "repo", Dir: bare(t), Roles: map[string]string{"eve": "write"}})
	s.AddIssue("loud/repo", githubtest.Issue{Title: "Add a cart", Body: "It is missing.", Author: "eve"})
	s.AddLabel("loud/repo", 1, "ralph")
	s.Inject(githubtest.Fault{
		Method: "GET", Path: "/repos/loud/repo/installation", Times: -1, Status: http.StatusForbidden,
		Header: http.Header{"Retry-After": {"1800"}}, Body: `{"message":"You have exceeded a secondary rate limit."}`,
	})
	loud, err := s.LabelEvent(githubtest.Event{Repo: "loud/repo", Issue: 1, Sender: "eve"}, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	one := s.server()
	one.Limits.Workers, one.Access.Retry = 1, &github.RetryPolicy{Tries: 3, MaxWait: time.Hour}
	v := s.serve(one)
	v.deliver(guid(1), loud, http.StatusAccepted)
	v.deliver(guid(2), s.label("ralph"), http.StatusAccepted)
	s.await(dispatches)
	v.stop()
	if got := s.started(); got != "2" {
		t.Errorf("started %s, want 2", got)
	}
	if !strings.Contains(v.log.String(), "cannot start a job yet") {
		t.Errorf("the log does not tell:\n%s", v.log)
	}
}

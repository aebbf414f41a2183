package githubtest_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestFaults(t *testing.T) {
	s := start(t)
	issue := s.AddIssue(shop, githubtest.Issue{Title: "t"}).Number
	c := client(t, s, jobToken)
	get := func() error { return last(c.Issues.Get(t.Context(), "acme", "shop", issue)) }
	comment := func() error {
		return last(c.Issues.CreateComment(t.Context(), "acme", "shop", issue, &github.IssueComment{Body: new("once")}))
	}

	s.Inject(githubtest.ServerError(http.StatusInternalServerError))
	if status, _ := refused(t, get()); status != 500 {
		t.Errorf("status = %d, want 500", status)
	}
	want(t, get(), "")

	gateway := githubtest.BadGateway()
	gateway.Skip, gateway.Times, gateway.Method, gateway.Path = 1, 2, "GET", "/repos/*/*/issues/*"
	s.Inject(gateway)
	want(t, comment(), "")
	want(t, get(), "")
	want(t, get(), "502")
	want(t, get(), "502")
	want(t, get(), "")

	s.Inject(githubtest.SecondaryLimit(7 * time.Second))
	var abuse *github.AbuseRateLimitError
	if err := comment(); !errors.As(err, &abuse) || abuse.GetRetryAfter() != 7*time.Second {
		t.Errorf("err = %v, want to be told to wait 7 s", err)
	}
	// The client waits by itself from now on; a new one does not know.
	c = client(t, s, jobToken)

	lost := githubtest.BadGateway()
	lost.Done, lost.Method = true, "POST"
	s.Inject(lost)
	before := len(s.Comments(shop, issue))
	want(t, comment(), "502")
	if got := len(s.Comments(shop, issue)); got != before+1 {
		t.Errorf("%d comments after a lost answer, want %d", got, before+1)
	}

	s.Inject(githubtest.Fault{CutAfter: 20})
	want(t, get(), "unexpected EOF")
	s.Inject(githubtest.Fault{Times: -1, Match: func(r *http.Request) bool { return r.Header.Get("Authorization") != "" }, Status: 401})
	want(t, get(), "401")
	want(t, get(), "401")
	s.Heal()
	want(t, get(), "")
}

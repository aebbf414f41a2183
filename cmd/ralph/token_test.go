package main_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/policy"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// TestTokensEnd has the App's token end in the middle of a run: it is known no
// more from the first push on, as after an hour. The run goes on with another.
func TestTokensEnd(t *testing.T) {
	t.Parallel()
	s := newIssueJob(t)
	s.AddApp(githubtest.App{
		ID: 7, Slug: "ralph", Owner: "octo", Key: &githubtest.Key().PublicKey, Installation: 70, Repos: []string{shop}, Permissions: githubtest.WriteAll(),
	})
	const old = "ghs_old"
	s.AddToken(old, githubtest.Token{Login: "ralph[bot]", Kind: githubtest.Installation, Repos: []string{shop}, Permissions: githubtest.WriteAll()})
	soon := time.Now().Add(40 * time.Second).UTC().Format(time.RFC3339)
	s.Inject(githubtest.Fault{
		Method: http.MethodPost, Path: "/app/installations/70/access_tokens", Times: -1, Status: http.StatusCreated,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"token":"` + old + `","expires_at":"` + soon + `"}`,
	})
	var once sync.Once
	s.keepGate(func(push githubtest.Push) string {
		if strings.HasPrefix(push.Ref, "refs/heads/") {
			once.Do(func() {
				s.Heal()
				s.DropToken(old)
			})
		}
		return ""
	})
	if code := s.end(s.begin("INPUT_GITHUB-TOKEN=", "INPUT_APP-ID=7", "INPUT_APP-PRIVATE-KEY="+githubtest.PEM(githubtest.Key()))); code != 0 {
		t.Errorf("exit %d, want 0", code)
	}
	run := s.run()
	if run.Stop == nil || run.Stop.Reason != policy.AllStoriesPassed || run.Published.Pushed != run.Head {
		t.Errorf("the run ended as %+v at %s, pushed %s; want it done", run.Stop, run.Head, run.Published.Pushed)
	}
	if pulls := s.Pulls(shop); len(pulls) != 1 || pulls[0].HeadSHA != run.Head {
		t.Errorf("pull requests %+v, want one at %s", pulls, run.Head)
	}
}

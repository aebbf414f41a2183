package githubtest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// A token may be narrower than its App, in permissions and repositories, and
// never wider: one permission too many refuses all of them, regardless of the others.
func TestTokensAreNoWiderThanTheirApp(t *testing.T) {
	key := githubtest.Key()
	s := start(t, func(s *githubtest.Server) {
		s.Now = time.Now
		s.AddApp(githubtest.App{
			ID: 7, Slug: "ralph", Owner: "acme", Key: &key.PublicKey, Installation: 70, Repos: []string{shop},
			Permissions: map[string]string{"issues": "write", "checks": "write", "statuses": "write", "contents": "read"},
		})
	})
	app, rw := appClient(t, s, key), func() *github.InstallationPermissions {
		return &github.InstallationPermissions{Issues: new("write"), Checks: new("write"), Statuses: new("write")}
	}
	wide := rw()
	wide.Contents = new("write")
	for range 10 { // in any order they are looked at
		_, _, err := app.Apps.CreateInstallationToken(t.Context(), 70, &github.InstallationTokenOptions{Permissions: wide})
		if status, message := refused(t, err); status != 422 || message != "The permissions requested are not granted to this installation." {
			t.Fatalf("wider = %d %s, want it refused", status, message)
		}
	}
	token, _, err := app.Apps.CreateInstallationToken(t.Context(), 70, &github.InstallationTokenOptions{Permissions: rw()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rw(), token.GetPermissions()); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
	_, _, err = client(t, s, token.GetToken()).PullRequests.Create(t.Context(), "acme", "shop", &github.NewPullRequest{
		Title: new("t"), Head: new("ralph/issue-1"), Base: new("main"),
	})
	if status, message := refused(t, err); status != 403 || message != "Resource not accessible by integration" {
		t.Errorf("a pull request with it = %d %s, want 403", status, message)
	}
}

// GitHub tells no case in logins.
func TestLoginsInAnyCase(t *testing.T) {
	s := start(t)
	issue := s.AddIssue(shop, githubtest.Issue{Title: "t", Author: "Write"}).Number
	got, _, err := client(t, s, jobToken).Issues.Get(t.Context(), "acme", "shop", issue)
	if err != nil || got.GetAuthorAssociation() != "COLLABORATOR" || got.GetUser().GetLogin() != "write" {
		t.Errorf("issue = %v, %v, want it of the collaborator", got, err)
	}
	level, _, err := client(t, s, jobToken).Repositories.GetPermissionLevel(t.Context(), "acme", "shop", "WRITE")
	if err != nil || level.GetPermission() != "write" {
		t.Errorf("permission = %v, %v, want write", level, err)
	}
}

package githubtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestPermission(t *testing.T) {
	s := start(t, func(s *githubtest.Server) {
		s.AddRepo(githubtest.Repo{Owner: "acme", Name: "vault", Private: true, Dir: bare(t)})
	})
	c := client(t, s, jobToken)
	for login, want := range map[string]string{
		"acme": "admin admin", "admin": "admin admin", "maintain": "write maintain", "write": "write write",
		"triage": "read triage", "read": "read read", "outsider": "read read",
	} {
		got, _, err := c.Repositories.GetPermissionLevel(t.Context(), "acme", "shop", login)
		if err != nil {
			t.Fatal(err)
		}
		if words := got.GetPermission() + " " + got.GetUser().GetRoleName(); words != want {
			t.Errorf("permission of %s = %s, want %s", login, words, want)
		}
	}
	_, _, err := c.Repositories.GetPermissionLevel(t.Context(), "acme", "shop", "github-actions[bot]")
	if status, message := refused(t, err); status != 404 || message != "github-actions[bot] is not a user" {
		t.Errorf("permission of a bot = %d %s", status, message)
	}
	_, _, err = c.Repositories.Get(t.Context(), "acme", "vault")
	if status, _ := refused(t, err); status != 404 {
		t.Errorf("a private repository of others = %d, want 404", status)
	}
}

func TestScopes(t *testing.T) {
	s := start(t)
	issue := s.AddIssue(shop, githubtest.Issue{Title: "t", Author: "read"}).Number
	pull := s.AddPull(shop, githubtest.Pull{Title: "p", Head: "ralph/issue-1", Author: "write"}).Number
	theirs := s.AddComment(shop, githubtest.Comment{Issue: issue, Author: "write", Body: "x"}).ID
	s.AddToken("ghs_pulls", githubtest.Token{Login: "app[bot]", Kind: githubtest.Installation, Permissions: map[string]string{"pull_requests": "write"}})
	pulls, reader, triager := client(t, s, "ghs_pulls"), client(t, s, "ghp_read"), client(t, s, "ghp_triage")
	ctx, note := t.Context(), &github.IssueComment{Body: new("hello")}
	run(t, []step{
		{"pull_requests is no issues", 403, func() error { return last(pulls.Issues.CreateComment(ctx, "acme", "shop", issue, note)) }},
		{"but for pull requests", 0, func() error { return last(pulls.Issues.CreateComment(ctx, "acme", "shop", pull, note)) }},
		{"a reader edits no others", 403, func() error { return last(reader.Issues.EditComment(ctx, "acme", "shop", theirs, note)) }},
		{"triage edits no others", 403, func() error { return last(triager.Issues.EditComment(ctx, "acme", "shop", theirs, note)) }},
		{"triage labels", 0, func() error {
			return last(triager.Issues.AddLabelsToIssue(ctx, "acme", "shop", issue, []string{"ralph"}))
		}},
	})
	_, _, err := pulls.Issues.CreateComment(ctx, "acme", "shop", issue, note)
	if _, message := refused(t, err); message != "Resource not accessible by integration" {
		t.Errorf("message = %q", message)
	}
	if i, _ := s.Issue(shop, issue); !cmp.Equal(i.Labels, []string{"ralph"}) {
		t.Errorf("issue = %+v, want it labelled", i)
	}
}

func TestPullRefusals(t *testing.T) {
	s := start(t, func(s *githubtest.Server) {
		s.AddRepo(githubtest.Repo{Owner: "acme", Name: "free", Dir: bare(t), NoDrafts: true})
		s.AddRepo(githubtest.Repo{Owner: "acme", Name: "shut", Dir: bare(t), NoActionsPulls: true})
		s.AddRepo(githubtest.Repo{Owner: "read", Name: "shop", Dir: bare(t), Fork: shop})
		s.AddToken("ghs_all", githubtest.Token{Login: "github-actions[bot]", Kind: githubtest.Job, Permissions: githubtest.WriteAll()})
	})
	c := client(t, s, "ghs_all")
	for _, one := range []struct {
		name, repo, head, base string
		draft                  bool
		status                 int
		want                   string
	}{
		{"opens", "shop", "ralph/issue-1", "main", true, 0, ""},
		{"twice", "shop", "ralph/issue-1", "main", true, 422, "Validation Failed; custom A pull request already exists for acme:ralph/issue-1."},
		{"twice by owner", "shop", "acme:ralph/issue-1", "main", true, 422, "Validation Failed; custom A pull request already exists for acme:ralph/issue-1."},
		{"from a fork", "shop", "read:ralph/issue-1", "main", true, 0, ""},
		{"equal", "shop", "same", "main", true, 422, "Validation Failed; custom No commits between main and same"},
		{"behind", "shop", "behind", "main", true, 422, "Validation Failed; custom No commits between main and behind"},
		{"no head", "shop", "none", "main", true, 422, "Validation Failed; head invalid"},
		{"no base", "shop", "ralph/issue-1", "none", true, 422, "Validation Failed; base invalid"},
		{"no drafts", "free", "ralph/issue-1", "main", true, 422, "Draft pull requests are not supported in this repository."},
		{"ready there", "free", "ralph/issue-1", "main", false, 0, ""},
		{"forbidden", "shut", "ralph/issue-1", "main", false, 403, "GitHub Actions is not permitted to create or approve pull requests."},
	} {
		t.Run(one.name, func(t *testing.T) {
			_, _, err := c.PullRequests.Create(t.Context(), "acme", one.repo, &github.NewPullRequest{
				Title: new("t"), Head: &one.head, Base: &one.base, Draft: &one.draft,
			})
			if one.status == 0 {
				want(t, err, "")
				return
			}
			if status, message := refused(t, err); status != one.status || message != one.want {
				t.Errorf("refusal = %d %q, want %d %q", status, message, one.status, one.want)
			}
		})
	}
	found, _, err := c.PullRequests.List(t.Context(), "acme", "shop", &github.PullRequestListOptions{Head: "acme:ralph/issue-1"})
	if err != nil || len(found) != 1 || found[0].GetAdditions() != 0 || found[0].GetHead().GetSHA() == "" {
		t.Errorf("pulls by head = %v, %v, want one", found, err)
	}
	one, _, err := c.PullRequests.Get(t.Context(), "acme", "shop", found[0].GetNumber())
	if err != nil || one.GetCommits() != 1 {
		t.Errorf("pull = %v, %v, want one commit", one, err)
	}
}

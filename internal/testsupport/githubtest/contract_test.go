package githubtest_test

import (
	"crypto/rsa"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/contract"
)

// appClient signs its requests as ralph does.
func appClient(t *testing.T, s *githubtest.Server, key *rsa.PrivateKey) *github.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := github.NewClient(&http.Client{
		Transport: ghinstallation.NewAppsTransportFromPrivateKey(transport, 7, key), Timeout: time.Minute,
	}).WithEnterpriseURLs(s.URL, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// step is one call of the client and what it must come to.
type step struct {
	name string
	want int // the status of a refusal; 0: it succeeds
	do   func() error
}

func run(t *testing.T, steps []step) {
	t.Helper()
	for _, one := range steps {
		t.Run(one.name, func(t *testing.T) {
			err := one.do()
			if one.want == 0 {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if status, message := refused(t, err); status != one.want {
				t.Fatalf("status = %d (%s), want %d", status, message, one.want)
			}
		})
	}
}

// last takes the error of a call with more results.
func last[A, B any](_ A, _ B, err error) error { return err }

// contracted stands the description between client and stand-in where it is
// installed, and insists on it where CONTRACT is set.
func contracted(t *testing.T) func(*githubtest.Server) {
	t.Helper()
	return func(s *githubtest.Server) { s.Wrap = contract.Around(t, os.Getenv("CONTRACT") != "") }
}

// Every operation of the stand-in, driven by the client that ralph uses, in
// success and in refusal, is as GitHub describes it.
func TestContract(t *testing.T) {
	key := githubtest.Key()
	s := start(t, contracted(t), func(s *githubtest.Server) {
		s.Now = time.Now
		s.AddApp(githubtest.App{
			ID: 7, Slug: "ralph", Owner: "acme", Key: &key.PublicKey, Installation: 70, Repos: []string{shop},
			Permissions: githubtest.WriteAll(),
		})
	})
	job, app := client(t, s, jobToken), appClient(t, s, key)
	run(t, repositorySteps(t, job))
	run(t, checkSteps(t, s, job))
	run(t, ruleSteps(t, s, job))
	run(t, issueSteps(t, s, job))
	run(t, labelSteps(t, job))
	run(t, pullSteps(t, s, job))
	run(t, threadSteps(t, s, job))
	run(t, jobSteps(t, s, job))
	run(t, accountSteps(t, s, job, app))
	run(t, refusalSteps(t, s))
	everyOperation(t, s)
}

func repositorySteps(t *testing.T, c *github.Client) []step {
	t.Helper()
	ctx := t.Context()
	return []step{
		{"rendered text", 0, func() error {
			return last(c.Markdown.Render(ctx, "*a*", &github.MarkdownOptions{Mode: "gfm", Context: shop}))
		}},
		{"repository", 0, func() error { return last(c.Repositories.Get(ctx, "acme", "shop")) }},
		{"no repository", 404, func() error { return last(c.Repositories.Get(ctx, "acme", "none")) }},
		{"permission", 0, func() error { return last(c.Repositories.GetPermissionLevel(ctx, "acme", "shop", "maintain")) }},
		{"permission of an unknown user", 404, func() error { return last(c.Repositories.GetPermissionLevel(ctx, "acme", "shop", "ghost")) }},
		{"commit", 0, func() error { return last(c.Git.CreateCommit(ctx, "acme", "shop", commitOf(noFiles), nil)) }},
		{"commit of no tree", 422, func() error {
			return last(c.Git.CreateCommit(ctx, "acme", "shop", commitOf(strings.Repeat("1", 40)), nil))
		}},
		{"status", 0, func() error { return last(c.Repositories.GetCombinedStatus(ctx, "acme", "shop", "ralph/issue-1", nil)) }},
		{"no status", 404, func() error { return last(c.Repositories.GetCombinedStatus(ctx, "acme", "shop", "none", nil)) }},
		{"check runs", 0, func() error { return last(c.Checks.ListCheckRunsForRef(ctx, "acme", "shop", "main", nil)) }},
	}
}

// checkSteps write checks, which takes a token that may.
func checkSteps(t *testing.T, s *githubtest.Server, reader *github.Client) []step {
	t.Helper()
	s.AddToken("ghs_prover", githubtest.Token{
		Login: "github-actions[bot]", Kind: githubtest.Job, Repos: []string{shop}, Permissions: map[string]string{"checks": "write", "metadata": "read"},
	})
	done, line, path, says, warning := "success", 7, "a_test.go", "TestA fails", "warning"
	check := github.CreateCheckRunOptions{Name: "ralph/proof", HeadSHA: "main", Conclusion: &done, Output: &github.CheckRunOutput{
		Title: &done, Summary: &says, Annotations: []*github.CheckRunAnnotation{{Path: &path, StartLine: &line, EndLine: &line, AnnotationLevel: &warning, Message: &says}},
	}}
	write := func(c *github.Client) error { return last(c.Checks.CreateCheckRun(t.Context(), "acme", "shop", check)) }
	return []step{
		{"check", 0, func() error { return write(client(t, s, "ghs_prover")) }},
		{"check by a reader", 403, func() error { return write(reader) }},
	}
}

// noFiles is the tree without any, which git knows by heart.
const noFiles = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

func commitOf(tree string) *github.Commit {
	return &github.Commit{Message: new("a commit"), Tree: &github.Tree{SHA: &tree}}
}

func issueSteps(t *testing.T, s *githubtest.Server, c *github.Client) []step {
	t.Helper()
	ctx, body := t.Context(), "a body"
	issue := s.AddIssue(shop, githubtest.Issue{Title: "It breaks", Labels: []string{"bug"}}).Number
	comment := s.AddComment(shop, githubtest.Comment{Issue: issue, Author: "read", Body: "me too"}).ID
	gone := s.AddComment(shop, githubtest.Comment{Issue: issue, Author: "read", Body: "oops"}).ID
	note := &github.IssueComment{Body: &body}
	empty := &github.IssueComment{Body: new("")}
	return []step{
		{"create", 0, func() error { return last(c.Issues.Create(ctx, "acme", "shop", &github.IssueRequest{Title: &body})) }},
		{"create without title", 422, func() error {
			return last(c.Issues.Create(ctx, "acme", "shop", &github.IssueRequest{Title: new("")}))
		}},
		{"get", 0, func() error { return last(c.Issues.Get(ctx, "acme", "shop", issue)) }},
		{"get none", 404, func() error { return last(c.Issues.Get(ctx, "acme", "shop", 999)) }},
		{"comments", 0, func() error { return last(c.Issues.ListComments(ctx, "acme", "shop", issue, nil)) }},
		{"comments of none", 404, func() error { return last(c.Issues.ListComments(ctx, "acme", "shop", 999, nil)) }},
		{"comment", 0, func() error { return last(c.Issues.CreateComment(ctx, "acme", "shop", issue, note)) }},
		{"comment on none", 404, func() error { return last(c.Issues.CreateComment(ctx, "acme", "shop", 999, note)) }},
		{"comment with nothing", 422, func() error { return last(c.Issues.CreateComment(ctx, "acme", "shop", issue, empty)) }},
		{"edit comment", 0, func() error { return last(c.Issues.EditComment(ctx, "acme", "shop", comment, note)) }},
		{"edit no comment", 404, func() error { return last(c.Issues.EditComment(ctx, "acme", "shop", 1, note)) }},
		{"delete comment", 0, func() error { return errOf(c.Issues.DeleteComment(ctx, "acme", "shop", gone)) }},
		{"delete it again", 404, func() error { return errOf(c.Issues.DeleteComment(ctx, "acme", "shop", gone)) }},
		{"react", 0, func() error { return last(c.Reactions.CreateIssueReaction(ctx, "acme", "shop", issue, "eyes")) }},
		{"react again", 0, func() error { return last(c.Reactions.CreateIssueReaction(ctx, "acme", "shop", issue, "eyes")) }},
		{"react to comment", 0, func() error {
			return last(c.Reactions.CreateIssueCommentReaction(ctx, "acme", "shop", comment, "rocket"))
		}},
	}
}

func errOf(_ *github.Response, err error) error { return err }

func labelSteps(t *testing.T, c *github.Client) []step {
	t.Helper()
	ctx := t.Context()
	return []step{
		{"put on", 0, func() error { return last(c.Issues.AddLabelsToIssue(ctx, "acme", "shop", 1, []string{"ralph", "a b"})) }},
		{"take off", 0, func() error { return errOf(c.Issues.RemoveLabelForIssue(ctx, "acme", "shop", 1, "a b")) }},
		{"take it off again", 404, func() error { return errOf(c.Issues.RemoveLabelForIssue(ctx, "acme", "shop", 1, "a b")) }},
	}
}

func pullSteps(t *testing.T, s *githubtest.Server, c *github.Client) []step {
	t.Helper()
	ctx := t.Context()
	open := func(head, base string) func() error {
		return func() error {
			return last(c.PullRequests.Create(ctx, "acme", "shop", &github.NewPullRequest{
				Title: new("Mend it"), Head: &head, Base: &base, Draft: new(true), Body: new("Refs #1"),
			}))
		}
	}
	number := func() int { return s.Pulls(shop)[0].Number }
	asked := github.ReviewersRequest{Reviewers: []string{"write"}}
	return []step{
		{"open", 0, open("ralph/issue-1", "main")},
		{"open again", 422, open("ralph/issue-1", "main")},
		{"open without commits", 422, open("same", "main")},
		{"open from nowhere", 422, open("none", "main")},
		{"open to nowhere", 422, open("ralph/issue-1", "none")},
		{"pulls", 0, func() error {
			return last(c.PullRequests.List(ctx, "acme", "shop", &github.PullRequestListOptions{Head: "acme:ralph/issue-1", State: "all", Base: "main"}))
		}},
		{"pull", 0, func() error { return last(c.PullRequests.Get(ctx, "acme", "shop", number())) }},
		{"no pull", 404, func() error { return last(c.PullRequests.Get(ctx, "acme", "shop", 1)) }},
		{"its issue", 0, func() error { return last(c.Issues.Get(ctx, "acme", "shop", number())) }},
		{"edit pull", 0, func() error {
			return last(c.PullRequests.Edit(ctx, "acme", "shop", number(), &github.PullRequest{Body: new("Closes #1")}))
		}},
		{"review", 0, func() error {
			s.AddReview(shop, number(), githubtest.Review{Author: "write", State: "CHANGES_REQUESTED", Body: "no"},
				githubtest.ReviewComment{Path: "work", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+done", Body: "why"})
			return last(c.PullRequests.ListReviews(ctx, "acme", "shop", number(), nil))
		}},
		{"review comments", 0, func() error { return last(c.PullRequests.ListComments(ctx, "acme", "shop", number(), nil)) }},
		{"ask for review", 0, func() error { return last(c.PullRequests.RequestReviewers(ctx, "acme", "shop", number(), asked)) }},
		{"ask a stranger", 422, func() error {
			return last(c.PullRequests.RequestReviewers(ctx, "acme", "shop", number(), github.ReviewersRequest{Reviewers: []string{"missing"}}))
		}},
	}
}

func accountSteps(t *testing.T, s *githubtest.Server, job, app *github.Client) []step {
	t.Helper()
	ctx := t.Context()
	person := client(t, s, "ghp_write")
	tried := s.Deliver(githubtest.Delivery{GUID: "0b989ba4-242f-11e5-81e1-c7b6966d2516", Event: "push", Payload: []byte(`{"ref":"main"}`), Status: 503})
	dispatch := github.CreateWorkflowDispatchEventRequest{Ref: "main", Inputs: map[string]any{"issue": "1"}}
	return []step{
		{"installation", 0, func() error { return last(app.Apps.FindRepositoryInstallation(ctx, "acme", "shop")) }},
		{"no installation", 404, func() error { return last(app.Apps.FindRepositoryInstallation(ctx, "acme", "none")) }},
		{"token", 0, func() error {
			return last(app.Apps.CreateInstallationToken(ctx, 70, &github.InstallationTokenOptions{Repositories: []string{"shop"}}))
		}},
		{"token of another", 404, func() error { return last(app.Apps.CreateInstallationToken(ctx, 71, nil)) }},
		{"token for more", 422, func() error {
			return last(app.Apps.CreateInstallationToken(ctx, 70, &github.InstallationTokenOptions{Repositories: []string{"none"}}))
		}},
		{"token without a JWT", 401, func() error { return last(job.Apps.CreateInstallationToken(ctx, 70, nil)) }},
		{"workflow", 0, func() error {
			return errOf(person.Actions.CreateWorkflowDispatchEventByFileName(ctx, "acme", "shop", "ralph.yml", dispatch))
		}},
		{"jobs of a workflow", 0, func() error {
			return last(person.Actions.ListWorkflowRunsByFileName(ctx, "acme", "shop", "ralph.yml", nil))
		}},
		{"deliveries", 0, func() error { return last(app.Apps.ListHookDeliveries(ctx, nil)) }},
		{"a delivery", 0, func() error { return last(app.Apps.GetHookDelivery(ctx, tried.ID)) }},
		{"no delivery", 404, func() error { return last(app.Apps.GetHookDelivery(ctx, 1)) }},
	}
}

func refusalSteps(t *testing.T, s *githubtest.Server) []step {
	t.Helper()
	ctx, note := t.Context(), &github.IssueComment{Body: new("hello")}
	wrong, none, reader := client(t, s, "ghs_wrong"), client(t, s, ""), client(t, s, "ghp_read")
	return []step{
		{"wrong token", 401, func() error { return last(wrong.Repositories.Get(ctx, "acme", "shop")) }},
		{"no token reads", 0, func() error { return last(none.Repositories.Get(ctx, "acme", "shop")) }},
		{"no token writes", 401, func() error { return last(none.Issues.CreateComment(ctx, "acme", "shop", 1, note)) }},
		{"reader labels", 403, func() error { return last(reader.Issues.AddLabelsToIssue(ctx, "acme", "shop", 1, []string{"x"})) }},
		{"reader comments", 0, func() error { return last(reader.Issues.CreateComment(ctx, "acme", "shop", 1, note)) }},
	}
}

// everyOperation fails for an operation that the steps above forgot.
func everyOperation(t *testing.T, s *githubtest.Server) {
	t.Helper()
	calls := s.Requests()
	for _, operation := range githubtest.Operations() {
		method, path, _ := strings.Cut(operation, " ")
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, `[^ ]+`) + "$")
		driven := false
		for _, call := range calls {
			driven = driven || call.Method == method && (call.Status/100 == 2 || call.Status == http.StatusFound) && pattern.MatchString(call.Path)
		}
		if !driven {
			t.Errorf("no step drives %s to success", operation)
		}
	}
}

package githubtest_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// threadSteps returns what a pull request has beyond its text: threads, and what
// CI says of its commit.
func threadSteps(t *testing.T, s *githubtest.Server, c *github.Client) []step {
	t.Helper()
	ctx := t.Context()
	pull := s.Pulls(shop)[0]
	s.AddReview(shop, pull.Number, githubtest.Review{Author: "write"}, githubtest.ReviewComment{Path: "work", Line: 1, DiffHunk: "@@ -0,0 +1 @@\n+done", Body: "why"})
	remarks := s.Remarks(shop, pull.Number)
	first := remarks[len(remarks)-1].ID
	check := s.AddCheckRun(shop, githubtest.CheckRun{
		SHA: pull.HeadSHA, Name: "test", Conclusion: "failure", Title: "1 failed", Log: "boom",
		Annotations: []githubtest.Annotation{{Path: "work", Line: 1, Message: "boom"}},
	})
	reply := func(to int64) func() error {
		return func() error {
			path := fmt.Sprintf("repos/acme/shop/pulls/%d/comments/%d/replies", pull.Number, to)
			req, err := c.NewRequest(http.MethodPost, path, &github.IssueComment{Body: new("so")})
			if err != nil {
				return err
			}
			_, err = c.Do(ctx, req, nil)
			return err
		}
	}
	return []step{
		{"answer in a thread", 0, reply(first)},
		{"answer to an answer", 404, func() error { return reply(s.Remarks(shop, pull.Number)[len(remarks)].ID)() }},
		{"answer to nothing", 404, reply(1)},
		{"react to a remark", 0, func() error {
			return last(c.Reactions.CreatePullRequestCommentReaction(ctx, "acme", "shop", first, "+1"))
		}},
		{"react to a comment as if it were a remark", 404, func() error {
			return last(c.Reactions.CreatePullRequestCommentReaction(ctx, "acme", "shop", 1, "+1"))
		}},
		{"checks of a commit", 0, func() error { return last(c.Checks.ListCheckRunsForRef(ctx, "acme", "shop", pull.HeadSHA, nil)) }},
		{"annotations", 0, func() error { return last(c.Checks.ListCheckRunAnnotations(ctx, "acme", "shop", check.ID, nil)) }},
		{"annotations of none", 404, func() error { return last(c.Checks.ListCheckRunAnnotations(ctx, "acme", "shop", 1, nil)) }},
		{"log", 0, func() error { return last(c.Actions.GetWorkflowJobLogs(ctx, "acme", "shop", check.ID, 1)) }},
	}
}

// jobSteps returns the actions on a run of a workflow.
func jobSteps(t *testing.T, s *githubtest.Server, c *github.Client) []step {
	t.Helper()
	ctx := t.Context()
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 5, Status: "in_progress"})
	s.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 6, Status: "completed", Conclusion: "success"})
	check := s.AddCheckRun(shop, githubtest.CheckRun{SHA: "main", Name: "unit", Conclusion: "failure", Run: 6})
	cancel := func(id int64) func() error {
		return func() error {
			_, err := c.Actions.CancelWorkflowRunByID(ctx, "acme", "shop", id)
			if errors.As(err, new(*github.AcceptedError)) {
				return nil
			}
			return err
		}
	}
	return []step{
		{"job", 0, func() error { return last(c.Actions.GetWorkflowRunByID(ctx, "acme", "shop", 5)) }},
		{"no job", 404, func() error { return last(c.Actions.GetWorkflowRunByID(ctx, "acme", "shop", 7)) }},
		{"cancel", 0, cancel(5)},
		{"cancel what is over", 409, cancel(6)},
		{"job of a run", 0, func() error { return last(c.Actions.GetWorkflowJobByID(ctx, "acme", "shop", check.ID)) }},
	}
}

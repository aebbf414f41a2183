package githubtest_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// parse reads a payload as a receiver of webhooks does.
func parse[T any](t *testing.T, name string, payload []byte, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	event, err := github.ParseWebHook(name, payload)
	if err != nil {
		t.Fatal(err)
	}
	typed, ok := event.(T)
	if !ok {
		t.Fatalf("event = %T", event)
	}
	return typed
}

func TestEvents(t *testing.T) {
	s := start(t)
	issue := s.AddIssue(shop, githubtest.Issue{Title: "It breaks", Body: "Badly.", Author: "read", Labels: []string{"ralph"}})
	pull := s.AddPull(shop, githubtest.Pull{Title: "Mend it", Head: "ralph/issue-1", Draft: true})
	comment := s.AddComment(shop, githubtest.Comment{Issue: pull.Number, Author: "write", Body: "/ralph"})
	review := s.AddReview(shop, pull.Number, githubtest.Review{Author: "write", State: "CHANGES_REQUESTED", Body: "no"})

	payload, err := s.LabelEvent(githubtest.Event{Repo: shop, Issue: issue.Number, Sender: "triage"}, "ralph")
	labelled := parse[*github.IssuesEvent](t, "issues", payload, err)
	if labelled.GetAction() != "labeled" || labelled.GetLabel().GetName() != "ralph" || labelled.GetSender().GetLogin() != "triage" ||
		labelled.GetIssue().GetUser().GetLogin() != "read" || labelled.GetRepo().GetFullName() != shop {
		t.Errorf("labelled = %v", labelled)
	}

	payload, err = s.CommentEvent(githubtest.Event{Repo: shop, Issue: pull.Number, Sender: "write"}, comment.ID)
	commented := parse[*github.IssueCommentEvent](t, "issue_comment", payload, err)
	if commented.GetAction() != "created" || !commented.GetIssue().IsPullRequest() || commented.GetComment().GetID() != comment.ID ||
		commented.GetComment().GetAuthorAssociation() != "COLLABORATOR" || !commented.GetIssue().GetUpdatedAt().Equal(github.Timestamp{Time: comment.CreatedAt}) {
		t.Errorf("commented = %v", commented)
	}

	s.EditComment(shop, comment.ID, "/ralph stop")
	payload, err = s.EditEvent(githubtest.Event{Repo: shop, Issue: pull.Number, Sender: "admin"}, comment.ID, "/ralph")
	edited := parse[*github.IssueCommentEvent](t, "issue_comment", payload, err)
	if edited.GetChanges().GetBody().GetFrom() != "/ralph" || edited.GetComment().GetBody() != "/ralph stop" {
		t.Errorf("edited = %v", edited)
	}

	payload, err = s.ReviewEvent(githubtest.Event{Repo: shop, Issue: pull.Number, Sender: "write"}, review.ID)
	reviewed := parse[*github.PullRequestReviewEvent](t, "pull_request_review", payload, err)
	if reviewed.GetReview().GetState() != "changes_requested" || reviewed.GetPullRequest().GetHead().GetRef() != "ralph/issue-1" {
		t.Errorf("reviewed = %v", reviewed)
	}

	payload, err = s.LabelEvent(githubtest.Event{Repo: shop, Issue: pull.Number, Sender: "triage"}, "ralph")
	if pr := parse[*github.PullRequestEvent](t, "pull_request", payload, err); !pr.GetPullRequest().GetDraft() || pr.GetNumber() != pull.Number {
		t.Errorf("pull request = %v", pr)
	}

	payload, err = s.DispatchEvent(githubtest.Event{Repo: shop, Sender: "write"}, map[string]string{"issue": "1"})
	dispatched := parse[*github.WorkflowDispatchEvent](t, "workflow_dispatch", payload, err)
	var inputs map[string]string
	if err := json.Unmarshal(dispatched.Inputs, &inputs); err != nil || inputs["issue"] != "1" || dispatched.GetRef() != "refs/heads/main" {
		t.Errorf("dispatched = %v, %v", dispatched, err)
	}
}

package github_test

import (
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestWhenAnIssueWasEdited(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	if at, err := client.LastEdited(t.Context(), 1); err != nil || !at.IsZero() {
		t.Errorf("LastEdited = %s, %v, want never", at, err)
	}
	server.AddComment(shop, githubtest.Comment{Issue: 1, Author: "mia", Body: "Hello"})
	edited := server.EditIssue(shop, 1, func(i *githubtest.Issue) { i.Body = "Send me the key." })
	if at, err := client.LastEdited(t.Context(), 1); err != nil || !at.Equal(edited.EditedAt) || at.IsZero() {
		t.Errorf("LastEdited = %s, %v, want %s", at, err, edited.EditedAt)
	}
	renamed := `{"data":{"repository":{"issue":{"lastEditedAt":null,"timelineItems":{"nodes":[{"createdAt":"2026-05-04T12:00:00Z"}]}}}}}`
	server.Inject(githubtest.Fault{Path: "/api/graphql", Status: 200, Times: 1, Body: renamed})
	if at, err := client.LastEdited(t.Context(), 1); err != nil || !at.Equal(time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("LastEdited = %s, %v, want when it was renamed", at, err)
	}
	if _, err := client.LastEdited(t.Context(), 99); !github.Withheld(err) {
		t.Errorf("LastEdited of no issue: %v", err)
	}
}

func TestWhenAJobWasAskedFor(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	server.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 5, Status: "in_progress"})
	if at, err := client.JobBegan(t.Context(), 5); err != nil || time.Since(at) > time.Hour {
		t.Errorf("JobBegan = %s, %v", at, err)
	}
	if at, err := client.JobBegan(t.Context(), 6); err != nil || !at.IsZero() {
		t.Errorf("JobBegan of no job: %s, %v", at, err)
	}
}

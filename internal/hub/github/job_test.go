package github_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestJobEnded(t *testing.T) {
	server := stand(t, nil)
	server.AddToken("ghs_without", githubtest.Token{Login: actor, Kind: githubtest.Job, Repos: []string{shop}, Permissions: map[string]string{"metadata": "read"}})
	server.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 7, Status: "in_progress"})
	server.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 8, Status: "completed", Conclusion: "failure"})
	without := access(server)
	without.Token = "ghs_without"
	for name, ask := range map[string]struct {
		access github.Access
		id     int64
		ended  bool
	}{
		"at work":           {access(server), 7, false},
		"over":              {access(server), 8, true},
		"unknown":           {access(server), 9, false},
		"we are let know":   {without, 8, true}, // the repository is public
		"hidden when there": {without, 9, false},
	} {
		ended, err := connect(t, ask.access).JobEnded(t.Context(), ask.id)
		if ended != ask.ended || err != nil {
			t.Errorf("%s: JobEnded = %t, %v, want %t", name, ended, err, ask.ended)
		}
	}
}

func TestCancelJob(t *testing.T) {
	server := stand(t, nil)
	server.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 7, Status: "in_progress"})
	server.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: 8, Status: "completed", Conclusion: "success"})
	server.AddToken("ghs_reads", githubtest.Token{Login: actor, Kind: githubtest.Job, Repos: []string{shop}, Permissions: map[string]string{"actions": "read"}})
	reads := access(server)
	reads.Token = "ghs_reads"
	if err := connect(t, reads).CancelJob(t.Context(), 7); !errors.Is(err, github.Forbidden) || !strings.Contains(fault.Hint(err), "actions: write") {
		t.Errorf("without the permission CancelJob = %v, with the hint %q", err, fault.Hint(err))
	}
	client := connect(t, access(server))
	for id, want := range map[int64]error{7: nil, 8: nil, 9: github.NotFound} {
		if err := client.CancelJob(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("CancelJob(%d) = %v, want %v", id, err, want)
		}
	}
	for id, want := range map[int64]bool{7: true, 8: false} {
		if job, _ := server.WorkflowRun(shop, id); job.Cancelled != want {
			t.Errorf("job %d was cancelled: %t, want %t", id, job.Cancelled, want)
		}
	}
}

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

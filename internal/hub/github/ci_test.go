package github_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// What CI says of a fork's branch is nothing to us, no matter what the branch is called.
func TestEventsOfCI(t *testing.T) {
	const repo = `"repository": {"name": "shop", "default_branch": "main", "owner": {"login": "acme"}}, "sender": {"login": "mallory", "type": "User"}`
	of := func(from string) string {
		return `{"head_branch": "ralph/issue-1", "head_sha": "abc", "conclusion": "failure", "head_repository": {"full_name": "` + from + `"}}`
	}
	pull := func(from string) string {
		return `"pull_request": {"number": 2, "head": {"ref": "ralph/issue-1", "sha": "abc", "repo": {"full_name": "` + from + `"}}}`
	}
	ours := trigger.CI{SHA: "abc", Branch: "ralph/issue-1", Conclusion: "failure"}
	ended := ours
	ended.At = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		event, payload string
		want           trigger.CI
	}{
		{"workflow_run", `"action": "completed", "workflow_run": ` + of("acme/shop"), ours},
		{"workflow_run", `"action": "completed", "workflow_run": ` + of("mia/shop"), trigger.CI{SHA: "abc", Conclusion: "failure"}},
		{"check_suite", `"action": "completed", "check_suite": {"head_branch": "ralph/issue-1", "head_sha": "abc", "conclusion": "failure"}`, ours},
		{"check_suite", `"action": "completed", "check_suite": {"head_branch": "ralph/issue-1", "head_sha": "abc", "conclusion": "failure", "updated_at": "2026-11-22T10:00:00Z"}`, ended},
		{"check_suite", `"action": "completed", "check_suite": {"head_branch": null, "head_sha": "abc", "conclusion": "failure"}`, trigger.CI{SHA: "abc", Conclusion: "failure"}},
		{"status", `"sha": "abc", "state": "failure", "branches": [{"name": "feature", "commit": {"sha": "abc"}}, {"name": "ralph/issue-1", "commit": {"sha": "abc"}}, {"name": "zoo", "commit": {"sha": "abc"}}]`, ours},
		{"pull_request", `"action": "ready_for_review", ` + pull("acme/shop"), trigger.CI{SHA: "abc", Branch: "ralph/issue-1", Conclusion: "ready_for_review"}},
		{"pull_request", `"action": "ready_for_review", ` + pull("mia/shop"), trigger.CI{}},
		{"push", `"sha": "abc", "state": "failure"`, trigger.CI{}},
	} {
		read, err := github.ReadTrigger(c.event, fmt.Appendf(nil, "{%s, %s}", c.payload, repo))
		if err != nil || read.CI != c.want {
			t.Errorf("%s {%s}: %+v, %v; want %+v", c.event, c.payload, read.CI, err, c.want)
		}
		if got := read.IsCI(); got != (c.want.SHA != "") {
			t.Errorf("%s {%s}: OfCI = %t", c.event, c.payload, got)
		}
		read.Inputs.Issue = 7
		if read.IsCI() {
			t.Errorf("%s: a workflow that names an issue asks for that", c.event)
		}
	}
}

// What the change broke is found among many that are red for other reasons, and what
// ralph itself wrote is not among them.
func TestRedIsWhatTheChangeMayHaveBroken(t *testing.T) {
	server := stand(t, nil)
	red := func(sha, name, conclusion, app string) {
		server.AddCheckRun(shop, githubtest.CheckRun{SHA: sha, Name: name, Conclusion: conclusion, App: app})
	}
	red(shaB, github.ProofCheck, "failure", "acme-ralph")
	for i := range 6 {
		name := fmt.Sprintf("old %d", i)
		red(shaA, name, "failure", "circleci")
		red(shaB, name, "failure", "circleci")
		red(shaB, fmt.Sprintf("ended with the others %d", i), "cancelled", "circleci")
	}
	red(shaB, "new", "failure", "circleci")
	server.SetStatus(shop, githubtest.Status{SHA: shaB, Context: github.ProofCheck, State: "failure"})
	found, err := connect(t, access(server)).Red(t.Context(), shaB, "main", "")
	if err != nil || len(found) != 1 || found[0].Name != "new" {
		t.Errorf("Red = %+v, %v; want the new one", found, err)
	}
}

package github_test

import (
	"fmt"
	"testing"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// What CI says of a fork's branch is nothing to us, whatever the branch is called.
func TestEventsOfCI(t *testing.T) {
	const repo = `"repository": {"name": "shop", "default_branch": "main", "owner": {"login": "acme"}}, "sender": {"login": "mallory", "type": "User"}`
	of := func(from string) string {
		return `{"head_branch": "ralph/issue-1", "head_sha": "abc", "conclusion": "failure", "head_repository": {"full_name": "` + from + `"}}`
	}
	pull := func(from string) string {
		return `"pull_request": {"number": 2, "head": {"ref": "ralph/issue-1", "sha": "abc", "repo": {"full_name": "` + from + `"}}}`
	}
	ours := trigger.CI{SHA: "abc", Branch: "ralph/issue-1", Conclusion: "failure"}
	for _, c := range []struct {
		event, payload string
		want           trigger.CI
	}{
		{"workflow_run", `"action": "completed", "workflow_run": ` + of("acme/shop"), ours},
		{"workflow_run", `"action": "completed", "workflow_run": ` + of("mia/shop"), trigger.CI{SHA: "abc", Conclusion: "failure"}},
		{"workflow_run", `"action": "requested", "workflow_run": ` + of("acme/shop"), trigger.CI{}},
		{"check_suite", `"action": "completed", "check_suite": {"head_branch": "ralph/issue-1", "head_sha": "abc", "conclusion": "failure"}`, ours},
		{"check_suite", `"action": "completed", "check_suite": {"head_branch": null, "head_sha": "abc", "conclusion": "failure"}`, trigger.CI{SHA: "abc", Conclusion: "failure"}},
		{"status", `"sha": "abc", "state": "failure", "branches": [{"name": "main", "commit": {"sha": "abc"}}, {"name": "old", "commit": {"sha": "def"}}, {"name": "ralph/issue-1", "commit": {"sha": "abc"}}]`, ours},
		{"pull_request", `"action": "ready_for_review", ` + pull("acme/shop"), trigger.CI{SHA: "abc", Branch: "ralph/issue-1", Conclusion: "ready_for_review"}},
		{"pull_request", `"action": "ready_for_review", ` + pull("mia/shop"), trigger.CI{}},
		{"pull_request", `"action": "synchronize", ` + pull("acme/shop"), trigger.CI{}},
		{"push", `"sha": "abc", "state": "failure"`, trigger.CI{}},
	} {
		read, err := github.ReadTrigger(c.event, fmt.Appendf(nil, "{%s, %s}", c.payload, repo))
		if err != nil || read.CI != c.want {
			t.Errorf("%s {%s}: %+v, %v; want %+v", c.event, c.payload, read.CI, err, c.want)
		}
		if got := read.OfCI(); got != (c.want.SHA != "") {
			t.Errorf("%s {%s}: OfCI = %t", c.event, c.payload, got)
		}
		read.Given.Issue = 7
		if read.OfCI() {
			t.Errorf("%s: a workflow that names an issue asks for that", c.event)
		}
	}
}

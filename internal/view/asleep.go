package view

import "github.com/ralph-loop/ralph/internal/journal"

// asleep is why the repository's own workflows say nothing of the branch, and
// what has them start; empty where they start by themselves.
func asleep(run journal.Run) string {
	if run.Comment == nil || !run.Comment.Quiet || run.Pull == nil && !run.Policy.NoPull || run.Pushed == "" {
		return ""
	}
	return "GitHub starts no workflows for what a job's own token pushes, or has them wait for approval: **Approve workflows to run** on the pull request's page, or close it and open it again. " +
		"With the input `ci-token`, or as a GitHub App, they start by themselves"
}

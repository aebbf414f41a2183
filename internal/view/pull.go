package view

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/journal"
)

func pull(run journal.Run) Pull {
	body := Pull{Title: title(run), Body: render("pull/body.md", run)}
	if run.Pull != nil {
		body.Number = run.Pull.Number
	}
	return body
}

// title names the pull request after what was asked.
func title(run journal.Run) string {
	asked := run.Task.Title
	if asked == "" {
		asked = run.Plan.Project
	}
	return clean.Inline(asked, 200)
}

// link ties the pull request to its issue. Merging a draft must not close what
// is not done.
func link(run journal.Run) string {
	switch {
	case run.Task.Number == 0:
		return ""
	case run.Plan.Done() && run.Pull != nil && !run.Pull.Draft:
		return fmt.Sprintf("Closes #%d", run.Task.Number)
	}
	return fmt.Sprintf("Refs #%d", run.Task.Number)
}

// proof is what the checks said of the newest commit, nil while nothing did.
func proof(run journal.Run) *journal.Proof {
	found, is := run.ProofOf(run.Tree)
	if !is || len(found.Checks) == 0 {
		return nil
	}
	return &found
}

// verdict is how one check of a proof ended, and what that is worth.
func verdict(run journal.Run, check journal.CheckEnded) string {
	switch {
	case check.Passed && run.Blocks(check.Name):
		return "✅ passed"
	case check.Passed:
		return "✅ passed, was not green before"
	case run.Blocks(check.Name):
		return "❌ failed"
	case check.CannotRun:
		return "➖ cannot run here"
	}
	return "➖ failed, was not green before"
}

// doubts are the claims of all iterations that were not believed.
func doubts(run journal.Run) []string {
	var all []string
	for _, it := range run.Iterations {
		if it.Ended == nil {
			continue
		}
		for _, rejected := range it.Ended.Rejected {
			all = append(all, fmt.Sprintf("iteration %d, `%s`: %s", it.Number,
				clean.Inline(rejected.Claim, 80), clean.Inline(rejected.Why, 300)))
		}
	}
	return all[:min(len(all), 50)]
}

package git

import (
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// remedies are what to do about what GitHub refuses, by its own words. The first
// one that fits counts.
var remedies = []struct {
	said *pattern.Pattern
	fix  string
}{
	{pattern.Of("create or update workflow `[^`]*` without `workflows` permission"), "give a `ci-token`, or an App with `app-id` and `app-private-key`, that may write workflows (`workflows: write`), which a job's own token never may"},
	{pattern.Of(`without .workflow. scope`), "give the token the scope `workflow`, or an App with `app-id` and `app-private-key`"},
	{pattern.Of(`PUSH PROTECTION|cannot contain secrets`), "take the secret out of the commits, or allow it on the page that GitHub names"},
	{pattern.Of(`must have verified signatures`), "set `commit-signing: github`"},
	{pattern.Of(`GH001|file size limit`), "take the file out of the commits, or keep it in Git LFS"},
	{pattern.Of(`GH013|rule violations`), "let ralph's token bypass the ruleset, or set `branch-prefix` to names that it does not cover"},
	{pattern.Of(`GH006|protected branch`), "let ralph's token push there, or set `branch-prefix` to names that are not protected"},
	{pattern.Of(`archived so it is read-only`), "take the repository out of the archive"},
	{pattern.Of(`HTTP 413`), "have whoever keeps the server or the proxy allow larger requests"},
	{pattern.Of(`(?i)permission to \S+ denied|write access to repository not granted`), "add `contents: write` under `permissions:` of the job, or to what the token or App may do"},
}

var workflowRule = pattern.Of(`refusing to allow .* to create or update workflow`)

// OfWorkflows tells of a push that was refused for the workflows in it, by what
// the remote said.
func OfWorkflows(said string) bool { return workflowRule.MatchString(said) }

// mended is a remote's answer with what to do about it, where that is known.
func mended(e *RemoteError) error {
	for _, r := range remedies {
		if r.said.MatchString(e.Reason) {
			told := *e
			told.Act = ""
			return fault.Usage(e.Act, r.fix, &told)
		}
	}
	return e
}

package githubtest

import "strings"

// What GitHub says to a push that it refuses, for RefusePush. The last line is
// what stands beside the ref, the others come before it.

// ProtectedBranch is for a branch that takes changes by pull requests alone.
func ProtectedBranch(ref string) string {
	return "error: GH006: Protected branch update failed for " + ref + ".\n" +
		"error: Changes must be made through a pull request.\n" +
		"protected branch hook declined"
}

// RuleViolation is for what a ruleset forbids, such as "Commits must have
// verified signatures."
func RuleViolation(ref, rule string) string {
	return "error: GH013: Repository rule violations found for " + ref + ".\n" +
		"Review all repository rules at https://github.com/acme/shop/rules?ref=" + strings.ReplaceAll(ref, "/", "%2F") + "\n\n" +
		"- " + rule + "\n\n" +
		"push declined due to repository rule violations"
}

// LargeFile is for a file that is larger than GitHub takes.
func LargeFile(name string) string {
	return "error: Trace: 8a9e5a4b6f0e1c7d\n" +
		"error: See https://gh.io/lfs for more information.\n" +
		"error: File " + name + " is 120.00 MB; this exceeds GitHub's file size limit of 100.00 MB\n" +
		"error: GH001: Large files detected. You may want to try Git Large File Storage - https://git-lfs.github.com.\n" +
		"pre-receive hook declined"
}

// WorkflowRule is for an App's token that may not change what GitHub Actions
// runs.
func WorkflowRule(file string) string {
	return "refusing to allow a GitHub App to create or update workflow `" + file + "` without `workflows` permission"
}

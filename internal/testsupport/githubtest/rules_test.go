package githubtest_test

import (
	"errors"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// ruleSteps returns what a repository allows, and the files by which its owner says so.
func ruleSteps(t *testing.T, s *githubtest.Server, c *github.Client) []step {
	t.Helper()
	ctx, admin := t.Context(), client(t, s, "ghp_admin")
	s.AddRuleset(shop, githubtest.Ruleset{Name: "names", Branches: []string{"ralph/*"}, Rules: []githubtest.Rule{
		{Type: "creation"}, {Type: "branch_name_pattern", Parameters: map[string]any{"operator": "starts_with", "pattern": "ralph/"}},
	}})
	rules := func(branch string, want int) func() error {
		return func() error {
			got, _, err := c.Repositories.GetRulesForBranch(ctx, "acme", "shop", branch)
			if err == nil && len(got) != want {
				t.Errorf("%d rules hold for %s, want %d", len(got), branch, want)
			}
			return err
		}
	}
	contents := func(path string) func() error {
		return func() error {
			file, _, _, err := c.Repositories.GetContents(ctx, "acme", "shop", path, nil)
			if err == nil && file == nil {
				err = errors.New("it is no file")
			}
			return err
		}
	}
	return []step{
		{"contents", 0, contents("README")},
		{"no contents", 404, contents("none")},
		{"rules", 0, rules("ralph/issue-1", 2)},
		{"no rules", 0, rules("main", 0)},
		{"settings of Actions", 0, func() error { return last(admin.Repositories.GetDefaultWorkflowPermissions(ctx, "acme", "shop")) }},
		{"settings that a job may not see", 403, func() error { return last(c.Repositories.GetDefaultWorkflowPermissions(ctx, "acme", "shop")) }},
		{"jobs of all workflows", 0, func() error { return last(c.Actions.ListRepositoryWorkflowRuns(ctx, "acme", "shop", nil)) }},
	}
}

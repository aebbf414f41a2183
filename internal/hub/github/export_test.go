package github

import (
	"context"

	gh "github.com/google/go-github/v60/github"
)

// Ask returns the plainest call there is, for the tests of how calls are made.
func (c *Client) Ask(ctx context.Context) (string, error) {
	a := operation{action: "ask for the default branch", permission: "contents: read"}
	repo, err := withRetry(ctx, c, a, func(ctx context.Context) (*gh.Repository, error) {
		repo, _, err := c.api.Repositories.Get(ctx, c.Owner, c.Repo)
		if err == nil && repo.GetDefaultBranch() == "" {
			err = errEmpty
		}
		return repo, err
	})
	return repo.GetDefaultBranch(), err
}

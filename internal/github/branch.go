package github

import (
	"context"

	gh "github.com/google/go-github/v60/github"
)

const contentsRead = "contents: read"

// DefaultBranch is the branch work is for unless told otherwise.
func (c *Client) DefaultBranch(ctx context.Context) (string, error) {
	a := act{what: "ask for the default branch", needs: contentsRead}
	repo, err := ask(ctx, c, a, func(ctx context.Context) (*gh.Repository, error) {
		repo, _, err := c.api.Repositories.Get(ctx, c.Owner, c.Repo)
		if err == nil && repo.GetDefaultBranch() == "" {
			err = errEmpty
		}
		return repo, err
	})
	return repo.GetDefaultBranch(), err
}

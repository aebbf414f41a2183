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

// BranchHead is the commit on which the branch name stands.
func (c *Client) BranchHead(ctx context.Context, name string) (string, error) {
	a := act{what: "ask for the head of " + name, needs: contentsRead}
	ref, err := ask(ctx, c, a, func(ctx context.Context) (*gh.Reference, error) {
		ref, _, err := c.api.Git.GetRef(ctx, c.Owner, c.Repo, "heads/"+name)
		if err == nil && ref.GetObject().GetSHA() == "" {
			err = errEmpty
		}
		return ref, err
	})
	return ref.GetObject().GetSHA(), err
}

package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v60/github"
)

// NewCommit is a commit for GitHub to make, of objects that it has.
type NewCommit struct {
	Tree    string
	Parents []string
	Message string
}

// Commit has GitHub make a commit in our name, and so sign it, and gives its id.
// No branch leads to it yet.
func (c *Client) Commit(ctx context.Context, n NewCommit) (string, error) {
	commit := &gh.Commit{Message: &n.Message, Tree: &gh.Tree{SHA: &n.Tree}}
	for _, sha := range n.Parents {
		commit.Parents = append(commit.Parents, &gh.Commit{SHA: &sha})
	}
	a := act{what: fmt.Sprintf("have the tree %.7s committed and signed", n.Tree), needs: "contents: write"}
	made, err := ask(ctx, c, a, func(ctx context.Context) (*gh.Commit, error) {
		made, _, err := c.api.Git.CreateCommit(ctx, c.Owner, c.Repo, commit, nil)
		if err == nil && made.GetSHA() == "" {
			err = errEmpty
		}
		return made, err
	})
	return made.GetSHA(), err
}

package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// Beside reads a file of another repository of the same owner. One that is not
// there, or that our token may not see, is not found: GitHub does not tell those
// apart. One that is empty is there.
func (c *Client) Beside(ctx context.Context, repo, path string) (text []byte, found bool, err error) {
	text, found, err = c.file(ctx, repo, path, "")
	if errors.Is(err, Forbidden) {
		return nil, false, nil
	}
	return text, found, err
}

// File reads a file of a branch. One that is empty might as well not be there.
func (c *Client) File(ctx context.Context, branch, path string) (text []byte, found bool, err error) {
	text, found, err = c.file(ctx, c.Repo, path, branch)
	return text, found && len(bytes.TrimSpace(text)) > 0, err
}

func (c *Client) file(ctx context.Context, repo, path, ref string) (text []byte, found bool, err error) {
	a := act{what: fmt.Sprintf("read %s of %s/%s", path, c.Owner, repo), needs: "contents: read"}
	said, err := ask(ctx, c, a, func(ctx context.Context) (string, error) {
		file, _, _, err := c.api.Repositories.GetContents(ctx, c.Owner, repo, path, &gh.RepositoryContentGetOptions{Ref: ref})
		if err != nil || file == nil { // a folder of that name
			return "", err
		}
		return file.GetContent()
	})
	if errors.Is(err, NotFound) {
		return nil, false, nil
	}
	return []byte(said), err == nil, err
}

// OpenPulls are the branches of this repository that have an open pull request.
func (c *Client) OpenPulls(ctx context.Context) ([]string, error) {
	a := act{what: "count the open pull requests", needs: "pull-requests: read"}
	pulls, err := list[struct {
		Head struct {
			Ref  string
			Repo *gh.Repository // null where a fork is gone
		}
	}](ctx, c, a, "pulls?state=open", maxPages)
	var branches []string
	for _, pull := range pulls {
		if strings.EqualFold(pull.Head.Repo.GetFullName(), c.Owner+"/"+c.Repo) {
			branches = append(branches, pull.Head.Ref)
		}
	}
	return branches, err
}

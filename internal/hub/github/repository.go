package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// These calls find out before a run what it may do. Where no call reports it, one is made
// with content that GitHub refuses after it has checked the permission, so it has no effect.

// Rule is one that holds for what is pushed to a branch.
type Rule struct {
	Type string // by GitHub's name
}

// Rules returns a branch's rules, whether or not the branch exists or they hold for us.
func (c *Client) Rules(ctx context.Context, branch string) ([]Rule, error) {
	a := operation{action: "read the rules for " + branch, permission: "metadata: read"}
	return list[Rule](ctx, c, a, "rules/branches/"+(&url.URL{Path: branch}).EscapedPath(), maxPages)
}

// DefaultBranch returns the repository's default branch, and whether it takes nothing any more.
func (c *Client) DefaultBranch(ctx context.Context) (base string, archived bool, err error) {
	op := operation{action: "look at the repository", permission: "metadata: read"}
	repo, err := request[gh.Repository](ctx, c, op)
	return repo.GetDefaultBranch(), repo.GetArchived(), err
}

// MayPush asks the repository, as git does before it pushes.
func (c *Client) MayPush(ctx context.Context, clone string) error {
	a := operation{action: "ask whether this token may push", permission: "contents: write"}
	_, err := withRetry(ctx, c, a, func(ctx context.Context) (any, error) {
		token, err := c.credential.token(ctx)
		if err != nil {
			return nil, err
		}
		address := clone + "/info/refs?service=git-receive-pack"
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		request.SetBasicAuth("x-access-token", token)
		answer, err := c.withoutToken.Do(request)
		if err != nil {
			return nil, err
		}
		defer answer.Body.Close() //nolint:errcheck // only its status is read
		switch answer.StatusCode {
		case http.StatusOK:
			return nil, nil
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound: // what the token may not see
			return nil, &Error{Kind: Forbidden, Status: answer.StatusCode, Message: "not accessible by this token"}
		}
		return nil, &Error{Kind: Unavailable, Status: answer.StatusCode, Message: answer.Status}
	})
	return err
}

// MayOpenPulls requests a pull request of a branch into itself, which GitHub never makes.
func (c *Client) MayOpenPulls(ctx context.Context, base string) error {
	return c.refused(ctx, operation{
		action: "ask whether this token may open pull requests", permission: pullsWrite,
		path: "pulls", body: map[string]string{"title": "ralph doctor", "head": base, "base": base},
	})
}

// MayWriteIssues asks for an issue without a title, which GitHub does not make.
func (c *Client) MayWriteIssues(ctx context.Context) error {
	return c.refused(ctx, operation{
		action: "ask whether this token may write on issues", permission: issuesWrite,
		path: "issues", body: map[string]string{"title": ""},
	})
}

// refused posts an invalid request: the hoped-for answer is that GitHub cannot use it.
func (c *Client) refused(ctx context.Context, a operation) error {
	a.method = http.MethodPost
	err := send(ctx, c, a)
	if errors.Is(err, Refused) {
		return nil
	}
	return err
}

// MayRead asks for a list that takes a permission of its own: "actions/runs".
func (c *Client) MayRead(ctx context.Context, path, needs string) error {
	return send(ctx, c, operation{
		action: "read " + strings.ReplaceAll(path, "/", " "), permission: needs,
		path: path + "?per_page=1",
	})
}

// JobsMayOpenPulls is a setting; known is false where we may not read it, as in a job.
func (c *Client) JobsMayOpenPulls(ctx context.Context) (may, known bool, err error) {
	set, err := request[struct {
		May bool `json:"can_approve_pull_request_reviews"`
	}](ctx, c, operation{
		action: "read the settings of Actions", permission: "administration: read",
		path: "actions/permissions/workflow",
	})
	if Withheld(err) {
		return false, false, nil
	}
	return set.May, err == nil, err
}

// NewCommit is a commit for GitHub to make, of objects that it has.
type NewCommit struct {
	Tree    string
	Parents []string
	Message string
}

// Commit has GitHub make and sign a commit, on no branch yet, and returns its id.
func (c *Client) Commit(ctx context.Context, n NewCommit) (string, error) {
	made, err := request[object](ctx, c, operation{
		action: fmt.Sprintf("have the tree %.7s committed and signed", n.Tree), permission: "contents: write",
		method: http.MethodPost, path: "git/commits",
		body: map[string]any{"message": n.Message, "tree": n.Tree, "parents": n.Parents},
	})
	return made.SHA, err
}

type object struct {
	SHA string `json:"sha"`
}

// File reads a file of a branch. One that is empty might as well not be there.
func (c *Client) File(ctx context.Context, branch, path string) (text []byte, found bool, err error) {
	text, found, err = c.file(ctx, c.Repo, path, branch)
	return text, found && len(bytes.TrimSpace(text)) > 0, err
}

func (c *Client) file(ctx context.Context, repo, path, ref string) (text []byte, found bool, err error) {
	a := operation{action: fmt.Sprintf("read %s of %s/%s", path, c.Owner, repo), permission: "contents: read"}
	options := &gh.RepositoryContentGetOptions{Ref: ref}
	content, err := withRetry(ctx, c, a, func(ctx context.Context) (string, error) {
		file, _, _, err := c.api.Repositories.GetContents(ctx, c.Owner, repo, path, options)
		if err != nil || file == nil { // a folder of that name
			return "", err
		}
		return file.GetContent()
	})
	if errors.Is(err, NotFound) {
		return nil, false, nil
	}
	return []byte(content), err == nil, err
}

// OpenPulls returns the branches of this repository with that prefix that have an open pull request.
func (c *Client) OpenPulls(ctx context.Context, prefix string) ([]string, error) {
	a := operation{action: "count the open pull requests", permission: pullsRead}
	pulls, err := list[struct{ Head pullSide }](ctx, c, a, "pulls?state=open", maxPages)
	var branches []string
	for _, p := range pulls {
		if strings.HasPrefix(p.Head.Ref, prefix) && strings.EqualFold(p.Head.Repo.FullName, c.Owner+"/"+c.Repo) {
			branches = append(branches, p.Head.Ref)
		}
	}
	return branches, err
}

package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// Pull is a pull request that stands.
type Pull struct {
	Number int
	URL    string
	Title  string
	Body   string
	Draft  bool
	Head   string // the branch
	SHA    string // its commit
	Base   string
	NodeID string // its name in GraphQL
}

// DraftTitle begins the title of a pull request that would be a draft where
// the repository's plan has none.
const DraftTitle = "[draft] "

// Says tells whether the title says draft because GitHub could not.
func (p Pull) Says() bool { return !p.Draft && strings.HasPrefix(p.Title, DraftTitle) }

// NewPull is a pull request to open.
type NewPull struct {
	Branch string
	Base   string
	Title  string
	Body   string
	Draft  bool
}

const pullsWrite = "pull-requests: write"

// FindPull finds the open pull request whose head is branch, of this
// repository and not of a fork.
func (c *Client) FindPull(ctx context.Context, branch string) (Pull, bool, error) {
	a := act{what: "look for the pull request of " + branch, needs: pullsWrite}
	options := &gh.PullRequestListOptions{State: "open", Head: c.Owner + ":" + branch, ListOptions: gh.ListOptions{PerPage: 100}}
	for range maxPages {
		list, err := ask(ctx, c, a, func(ctx context.Context) ([]*gh.PullRequest, error) {
			list, resp, err := c.api.PullRequests.List(ctx, c.Owner, c.Repo, options)
			if err == nil {
				options.Page = resp.NextPage
			}
			return list, err
		})
		if err != nil {
			return Pull{}, false, err
		}
		if found := slices.IndexFunc(list, func(pull *gh.PullRequest) bool { return c.owns(pull, branch) }); found >= 0 {
			return opened(list[found]), true, nil
		}
		if options.Page == 0 {
			break
		}
	}
	return Pull{}, false, nil
}

// Merged tells whether a pull request was, and not only closed.
func (c *Client) Merged(ctx context.Context, number int) (bool, error) {
	pull, err := one[struct {
		Merged bool `json:"merged"`
	}](ctx, c, act{what: fmt.Sprintf("ask what became of #%d", number), needs: pullsWrite}, fmt.Sprintf("pulls/%d", number))
	return pull.Merged, err
}

// PullBody is the text of a pull request as it stands, not cleaned.
func (c *Client) PullBody(ctx context.Context, number int) (string, error) {
	pull, err := one[struct {
		Body string `json:"body"`
	}](ctx, c, act{what: fmt.Sprintf("read the text of #%d", number), needs: pullsRead}, fmt.Sprintf("pulls/%d", number))
	return pull.Body, err
}

// owns tells of a pull request whose head is branch here: a head that GitHub
// does not understand is no filter to it at all.
func (c *Client) owns(pull *gh.PullRequest, branch string) bool {
	return pull.GetHead().GetRef() == branch && strings.EqualFold(pull.GetHead().GetRepo().GetFullName(), c.Owner+"/"+c.Repo)
}

// OpenPull opens a pull request, or finds the one that is open for the branch
// already: trying again is safe. Where drafts are not to be had the title says
// draft instead; see Says.
func (c *Client) OpenPull(ctx context.Context, p NewPull) (Pull, error) {
	pull, err := c.openPull(ctx, p)
	switch {
	case err == nil:
		return pull, nil
	case p.Draft && refusedFor(err, noDrafts):
		p.Draft, p.Title = false, DraftTitle+p.Title
		return c.OpenPull(ctx, p)
	case refusedFor(err, "already exists"):
		found, ok, lookErr := c.FindPull(ctx, p.Branch)
		if ok {
			return found, nil
		}
		return Pull{}, errors.Join(err, lookErr)
	}
	return Pull{}, err
}

// noDrafts is how GitHub says that a repository's plan has none.
const noDrafts = "draft pull requests are not supported"

func refusedFor(err error, reason string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == Refused && strings.Contains(strings.ToLower(e.Message), reason)
}

func (c *Client) openPull(ctx context.Context, p NewPull) (Pull, error) {
	a := act{what: "open the pull request of " + p.Branch, needs: pullsWrite}
	return c.pull(ctx, a, p.Body, func(ctx context.Context) (*gh.PullRequest, error) {
		pull, _, err := c.api.PullRequests.Create(ctx, c.Owner, c.Repo, &gh.NewPullRequest{
			Title: &p.Title, Head: &p.Branch, Base: &p.Base, Body: &p.Body, Draft: &p.Draft,
		})
		return pull, err
	})
}

// EditPull gives the pull request a new title and text; an empty one leaves
// what is there.
func (c *Client) EditPull(ctx context.Context, number int, title, body string) (Pull, error) {
	a := act{what: fmt.Sprintf("edit the pull request #%d", number), needs: pullsWrite}
	return c.pull(ctx, a, body, func(ctx context.Context) (*gh.PullRequest, error) {
		pull, _, err := c.api.PullRequests.Edit(ctx, c.Owner, c.Repo, number, &gh.PullRequest{
			Title: orNil(title), Body: orNil(body),
		})
		return pull, err
	})
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// pull makes a call that answers with a pull request.
func (c *Client) pull(ctx context.Context, a act, body string, call func(context.Context) (*gh.PullRequest, error)) (Pull, error) {
	if err := tooLong(body); err != nil {
		return Pull{}, fmt.Errorf("%s: %w", a.what, err)
	}
	pull, err := ask(ctx, c, a, func(ctx context.Context) (*gh.PullRequest, error) {
		pull, err := call(ctx)
		if err == nil && pull.GetNumber() == 0 {
			err = errEmpty
		}
		return pull, err
	})
	if err != nil {
		return Pull{}, err
	}
	return opened(pull), nil
}

func opened(p *gh.PullRequest) Pull {
	return Pull{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), Title: p.GetTitle(), Body: p.GetBody(), Draft: p.GetDraft(),
		Head: p.GetHead().GetRef(), SHA: p.GetHead().GetSHA(), Base: p.GetBase().GetRef(), NodeID: p.GetNodeID(),
	}
}

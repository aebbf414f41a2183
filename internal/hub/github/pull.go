package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/core/trigger"
)

// Pull is a pull request as GitHub has it. Its texts are as people wrote them, where nothing else is said.
type Pull struct {
	trigger.Pull
	URL, Title, Body string
	BaseSHA          string
	Open, Merged     bool
	Opened, Ended    time.Time
	NodeID           string // its name in GraphQL
}

// NewPull is a pull request to open.
type NewPull struct {
	Branch string
	Base   string
	Title  string
	Body   string
	Draft  bool
}

const pullsWrite = "pull-requests: write"

// FindPull finds the open pull request whose head is branch of this repository; number 0: any.
func (c *Client) FindPull(ctx context.Context, branch string, number int) (Pull, bool, error) {
	found, ok, err := findFirst(ctx, c, pullsOf(c, branch), func(p pull) bool {
		return c.isHead(p, branch) && (number == 0 || p.Number == number)
	})
	return found.pull(), ok, err
}

func pullsOf(c *Client, branch string) operation {
	path := "pulls?" + url.Values{"state": {"open"}, "head": {c.Owner + ":" + branch}}.Encode()
	return operation{action: "look for the pull request of " + branch, permission: pullsWrite, path: path}
}

// OwnPull returns the open pull request of branch that we opened.
func (c *Client) OwnPull(ctx context.Context, branch string) (own Pull, ok bool, err error) {
	all, err := c.OwnPulls(ctx, branch)
	if err != nil || len(all) == 0 {
		return Pull{}, false, err
	}
	return all[0], true, nil
}

// OwnPulls returns the open pull requests of branch that we opened: there is one for each base.
func (c *Client) OwnPulls(ctx context.Context, branch string) ([]Pull, error) {
	op := pullsOf(c, branch)
	all, err := list[pull](ctx, c, op, op.path, maxPages)
	if err != nil {
		return nil, err
	}
	var own []Pull
	for _, p := range all {
		if !c.isHead(p, branch) || !strings.HasPrefix(p.Body, trigger.PullMarker) {
			continue
		}
		ours, err := c.Opened(ctx, p.User.name())
		if err != nil {
			return nil, err
		}
		if ours {
			own = append(own, p.proposal())
		}
	}
	return own, nil
}

// Opened reports whether author is our login, or the opener's: others can open pull requests, too.
func (c *Client) Opened(ctx context.Context, author string) (bool, error) {
	ours, err := c.Wrote(ctx, author)
	if ours || err != nil {
		return ours, err
	}
	if c.Starter == nil {
		return false, nil
	}
	return c.Starter.Wrote(ctx, author)
}

// Pull returns a pull request.
func (c *Client) Pull(ctx context.Context, number int) (Pull, error) {
	found, err := c.readPull(ctx, number)
	return found.pull(), err
}

// isHead checks the head again: GitHub ignores a filter that it does not understand.
func (c *Client) isHead(p pull, branch string) bool {
	return p.Head.Ref == branch && strings.EqualFold(p.Head.Repo.FullName, c.Owner+"/"+c.Repo)
}

// OpenPull opens a pull request, or finds the open one of the branch, so it can be repeated.
// Without drafts on the plan it is ready on GitHub, and a draft for its run.
func (c *Client) OpenPull(ctx context.Context, p NewPull) (Pull, error) {
	opened, err := request[pull](ctx, c, operation{
		action: "open the pull request of " + p.Branch, permission: pullsWrite, method: http.MethodPost, path: "pulls",
		body: map[string]any{"title": p.Title, "head": p.Branch, "base": p.Base, "body": p.Body, "draft": p.Draft},
	})
	if err == nil {
		return opened.pull(), nil
	}
	if p.Draft && refusedFor(err, noDrafts) {
		p.Draft = false
		opened, err := c.OpenPull(ctx, p)
		opened.Draft = true
		return opened, err
	}
	if !refusedFor(err, "already exists") {
		return Pull{}, err
	}
	found, ok, lookErr := findFirst(ctx, c, pullsOf(c, p.Branch), func(other pull) bool {
		return c.isHead(other, p.Branch) && other.Base.Ref == p.Base
	})
	if ok {
		return found.pull(), nil
	}
	return Pull{}, errors.Join(err, lookErr)
}

const noDrafts = "draft pull requests are not supported"

func refusedFor(err error, reason string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == Refused && strings.Contains(strings.ToLower(e.Message), reason)
}

// EditPull changes a title and a text; an empty one stays.
func (c *Client) EditPull(ctx context.Context, number int, title, body string) (Pull, error) {
	changes := map[string]string{"title": title, "body": body}
	maps.DeleteFunc(changes, func(_, text string) bool { return text == "" })
	edited, err := request[pull](ctx, c, operation{
		action: fmt.Sprintf("edit the pull request #%d", number), permission: pullsWrite,
		method: http.MethodPatch, path: fmt.Sprintf("pulls/%d", number), body: changes,
	})
	return edited.pull(), err
}

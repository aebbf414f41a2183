package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
)

// reviewThreads asks GraphQL: REST does not report which threads are resolved.
const reviewThreads = `query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { pullRequest(number: %d) {
    reviewThreads(first: 100%s) {
      pageInfo { endCursor hasNextPage }
      nodes { id isResolved comments(first: 1) { nodes { databaseId } } }
    }
  } }
}`

type threadPage struct {
	Pull struct {
		Threads struct {
			Page struct {
				End  string `json:"endCursor"`
				More bool   `json:"hasNextPage"`
			} `json:"pageInfo"`
			Nodes []thread `json:"nodes"`
		} `json:"reviewThreads"`
	} `json:"pullRequest"`
}

type thread struct {
	ID       string `json:"id"`
	Resolved bool   `json:"isResolved"`
	Comments struct {
		Nodes []struct {
			ID int64 `json:"databaseId"`
		} `json:"nodes"`
	} `json:"comments"`
}

func (c *Client) threads(ctx context.Context, number int) (map[int64]thread, error) {
	a := operation{action: fmt.Sprintf("ask which threads of #%d are open", number), permission: pullsRead}
	all := map[int64]thread{}
	after := ""
	for range commentPages {
		a.body = ask{fmt.Sprintf(reviewThreads, number, after), c.variables()}
		repository, err := graph[threadPage](ctx, c, a)
		if err != nil {
			return all, err
		}
		page := repository.Pull.Threads
		for _, one := range page.Nodes {
			for _, first := range one.Comments.Nodes {
				all[first.ID] = one
			}
		}
		if !page.Page.More {
			break
		}
		after = fmt.Sprintf(", after: %q", page.Page.End)
	}
	return all, nil
}

// OpenThreads returns the unresolved threads, by their first comments.
func (c *Client) OpenThreads(ctx context.Context, number int) (map[int64]bool, error) {
	all, err := c.threads(ctx, number)
	open := map[int64]bool{}
	for first, one := range all {
		open[first] = !one.Resolved
	}
	return open, err
}

// Reply answers in the thread that a comment of a pull request began.
func (c *Client) Reply(ctx context.Context, number int, thread int64, body string) (Comment, error) {
	return c.write(ctx, operation{
		action: fmt.Sprintf("answer in a thread of #%d", number), permission: pullsWrite, notRepeatable: true,
		method: http.MethodPost, path: fmt.Sprintf("pulls/%d/comments/%d/replies", number, thread),
	}, body)
}

// Answer answers each thread once, and resolves those that are done, also after a failure of one.
func (c *Client) Answer(ctx context.Context, number int, rules trigger.Rules, replies []upkeep.Reply) error {
	if len(replies) == 0 {
		return nil
	}
	login, err := c.login(ctx)
	if err != nil {
		return err
	}
	a := operation{action: fmt.Sprintf("read the threads of #%d", number), permission: pullsRead}
	comments, err := list[comment](ctx, c, a, fmt.Sprintf("pulls/%d/comments", number), commentPages)
	if err != nil {
		return err
	}
	var ours, others []comment
	for _, one := range comments {
		one.ReplyTo = cmp.Or(one.ReplyTo, one.ID)
		if strings.EqualFold(one.User.Login, login) {
			ours = append(ours, one)
		} else if !rules.IsCommand(one.Body) {
			others = append(others, one)
		}
	}
	var failures []error
	var done []upkeep.Reply
	for _, r := range replies {
		if !isGiven(r, ours) {
			_, err := c.Reply(ctx, number, r.Thread, r.Text)
			failures = append(failures, err)
		}
		if r.Resolve && !hasUnread(r, others) {
			done = append(done, r)
		}
	}
	err = c.resolve(ctx, number, done)
	return errors.Join(append(failures, err)...)
}

func isGiven(r upkeep.Reply, ours []comment) bool {
	return slices.ContainsFunc(ours, func(one comment) bool {
		return one.ReplyTo == r.Thread && strings.HasPrefix(one.Body, r.Mark)
	})
}

// hasUnread reports whether others said something in the thread that the run did not read.
func hasUnread(r upkeep.Reply, others []comment) bool {
	return slices.ContainsFunc(others, func(one comment) bool {
		return one.ReplyTo == r.Thread && !slices.Contains(r.Read, one.ID)
	})
}

const resolveThread = `mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { isResolved } }
}`

func (c *Client) resolve(ctx context.Context, number int, replies []upkeep.Reply) error {
	if len(replies) == 0 {
		return nil
	}
	threads, err := c.threads(ctx, number)
	failures := []error{err}
	for _, r := range replies {
		one, ok := threads[r.Thread]
		if !ok || one.Resolved {
			continue
		}
		_, err := graph[any](ctx, c, operation{
			action: fmt.Sprintf("resolve a thread of #%d", number), permission: pullsWrite,
			body: ask{resolveThread, map[string]string{"id": one.ID}},
		})
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

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

// reviewThreads asks GraphQL: REST does not tell which threads are resolved.
const reviewThreads = `query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { pullRequest(number: %d) {
    reviewThreads(first: 100%s) { pageInfo { endCursor hasNextPage } nodes { id isResolved comments(first: 1) { nodes { databaseId } } } }
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
	all, after := map[int64]thread{}, ""
	for range commentPages {
		a.body = ask{fmt.Sprintf(reviewThreads, number, after), c.here()}
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
	there, err := list[comment](ctx, c, a, fmt.Sprintf("pulls/%d/comments", number), commentPages)
	if err != nil {
		return err
	}
	var ours, others []comment
	for _, said := range there {
		said.ReplyTo = cmp.Or(said.ReplyTo, said.ID)
		if strings.EqualFold(said.User.Login, login) {
			ours = append(ours, said)
		} else if !rules.IsCommand(said.Body) {
			others = append(others, said)
		}
	}
	var all []error
	for _, r := range replies {
		given := slices.ContainsFunc(ours, func(said comment) bool { return said.ReplyTo == r.Thread && strings.HasPrefix(said.Body, r.Mark) })
		if !given {
			_, err := c.Reply(ctx, number, r.Thread, r.Text)
			all = append(all, err)
		}
	}
	return errors.Join(append(all, c.resolve(ctx, number, fullyRead(replies, ours, others)))...)
}

// fullyRead leaves out threads with a comment of others that the run did not read and that no
// earlier run answered with commits.
func fullyRead(replies []upkeep.Reply, ours, others []comment) []upkeep.Reply {
	replies = slices.Clone(replies)
	for i, r := range replies {
		replies[i].Resolve = r.Resolve && !slices.ContainsFunc(others, func(said comment) bool {
			return said.ReplyTo == r.Thread && !slices.Contains(r.Read, said.ID) && !slices.ContainsFunc(ours, func(answer comment) bool {
				return answer.ReplyTo == r.Thread && answer.ID > said.ID && r.IsDone(answer.Body)
			})
		})
	}
	return replies
}

const resolveThread = `mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { isResolved } }
}`

func (c *Client) resolve(ctx context.Context, number int, replies []upkeep.Reply) error {
	if !slices.ContainsFunc(replies, func(r upkeep.Reply) bool { return r.Resolve }) {
		return nil
	}
	threads, err := c.threads(ctx, number)
	all := []error{err}
	for _, r := range replies {
		one, there := threads[r.Thread]
		if !r.Resolve || !there || one.Resolved {
			continue
		}
		a := operation{action: fmt.Sprintf("resolve a thread of #%d", number), permission: pullsWrite, body: ask{resolveThread, map[string]string{"id": one.ID}}}
		_, err := graph[any](ctx, c, a)
		all = append(all, err)
	}
	return errors.Join(all...)
}

package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// lastEdited asks GraphQL: in REST every comment changes the issue's date.
const lastEdited = `query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { issue(number: %d) {
    lastEditedAt
    timelineItems(last: 1, itemTypes: [RENAMED_TITLE_EVENT]) { nodes { ... on RenamedTitleEvent { createdAt } } }
  } }
}`

type editedIssue struct {
	Issue struct {
		Body     stamp `json:"lastEditedAt"`
		Timeline struct {
			Nodes []struct {
				At stamp `json:"createdAt"`
			} `json:"nodes"`
		} `json:"timelineItems"`
	} `json:"issue"`
}

// LastEdited returns when an issue's title or text was last changed; zero: never.
func (c *Client) LastEdited(ctx context.Context, number int) (time.Time, error) {
	repository, err := graph[editedIssue](ctx, c, operation{
		action: fmt.Sprintf("ask when #%d was last edited", number), permission: issuesRead,
		body: ask{fmt.Sprintf(lastEdited, number), c.variables()},
	})
	at := repository.Issue.Body.Time
	for _, renamed := range repository.Issue.Timeline.Nodes {
		if renamed.At.After(at) {
			at = renamed.At.Time
		}
	}
	return at, err
}

// variables are those of a question about the repository.
func (c *Client) variables() map[string]string {
	return map[string]string{"owner": c.Owner, "name": c.Repo}
}

// ask is the body of an operation that asks GraphQL.
type ask struct {
	Query     string            `json:"query"`
	Variables map[string]string `json:"variables"`
}

// graph asks GraphQL for one thing, or has one thing changed.
func graph[T any](ctx context.Context, c *Client, a operation) (T, error) {
	return withRetry(ctx, c, a, func(ctx context.Context) (found T, err error) {
		var answer struct {
			Data   map[string]*T
			Errors []graphqlError
		}
		if _, err := c.send(ctx, http.MethodPost, c.graphql, a.body, &answer); err != nil {
			return found, err
		}
		if len(answer.Errors) > 0 {
			return found, graphqlProblem(answer.Errors)
		}
		for _, one := range answer.Data {
			if one != nil {
				return *one, nil
			}
		}
		return found, errEmpty
	})
}

const (
	markReady = `mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}`
	markDraft = `mutation($id: ID!) {
  convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}`
)

// ReadyPull marks a draft ready for review, which only GraphQL can do.
func (c *Client) ReadyPull(ctx context.Context, p Pull) error {
	if !p.Draft {
		return nil
	}
	return c.setDraft(ctx, p, false)
}

// DraftPull makes a pull request a draft again, unless the plan has no drafts.
func (c *Client) DraftPull(ctx context.Context, p Pull) error {
	if p.Draft {
		return nil
	}
	err := c.setDraft(ctx, p, true)
	if refusedFor(err, noDrafts) {
		return nil
	}
	return err
}

func (c *Client) setDraft(ctx context.Context, p Pull, draft bool) error {
	state := "ready"
	question := markReady
	if draft {
		state = "into a draft"
		question = markDraft
	}
	_, err := graph[any](ctx, c, operation{
		action: fmt.Sprintf("turn the pull request #%d %s", p.Number, state), permission: pullsWrite,
		body: ask{question, map[string]string{"id": p.NodeID}},
	})
	return err
}

type graphqlError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func graphqlProblem(all []graphqlError) *Error {
	kinds := map[string]Kind{
		"NOT_FOUND": NotFound, "FORBIDDEN": Forbidden, "INSUFFICIENT_SCOPES": Forbidden, "RATE_LIMITED": RateLimited,
	}
	kind, known := kinds[all[0].Type]
	if !known {
		kind = Refused
	}
	messages := make([]string, len(all))
	for i, e := range all {
		messages[i] = e.Message
	}
	return &Error{Kind: kind, Status: http.StatusOK, Message: oneLine(strings.Join(messages, "; "))}
}

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
	Repository struct {
		Issue struct {
			Body     stamp `json:"lastEditedAt"`
			Timeline struct {
				Nodes []struct {
					At stamp `json:"createdAt"`
				} `json:"nodes"`
			} `json:"timelineItems"`
		} `json:"issue"`
	} `json:"repository"`
}

// LastEdited returns when an issue's title or text was last changed; zero: never.
func (c *Client) LastEdited(ctx context.Context, number int) (time.Time, error) {
	a := operation{action: fmt.Sprintf("ask when #%d was last edited", number), permission: issuesRead, body: ask{fmt.Sprintf(lastEdited, number), c.here()}}
	answer, err := graph[editedIssue](ctx, c, a, nil)
	issue := answer.Repository.Issue
	at := issue.Body.Time
	for _, renamed := range issue.Timeline.Nodes {
		if renamed.At.After(at) {
			at = renamed.At.Time
		}
	}
	return at, err
}

// here are the variables of a question about the repository.
func (c *Client) here() map[string]string { return map[string]string{"owner": c.Owner, "name": c.Repo} }

// ask is the body of an operation that asks GraphQL.
type ask struct {
	Query     string            `json:"query"`
	Variables map[string]string `json:"variables"`
}

// graph asks GraphQL. An answer that does not hold what it must is as good as none.
func graph[T any](ctx context.Context, c *Client, a operation, holds func(T) bool) (T, error) {
	return withRetry(ctx, c, a, func(ctx context.Context) (T, error) {
		var answer struct {
			Data   T
			Errors []graphqlError
		}
		_, err := c.send(ctx, http.MethodPost, c.graphql, a.body, &answer)
		switch {
		case err != nil:
		case len(answer.Errors) > 0:
			err = graphqlProblem(answer.Errors)
		case holds != nil && !holds(answer.Data):
			err = errEmpty
		}
		return answer.Data, err
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

// ReadyPull marks a draft ready for review, which only GraphQL can do. A title that says draft
// in GitHub's place loses that word.
func (c *Client) ReadyPull(ctx context.Context, p Pull) error {
	if p.TitleDraft {
		_, err := c.EditPull(ctx, p.Number, strings.TrimPrefix(p.Title, DraftTitle), "")
		return err
	}
	if !p.Draft {
		return nil
	}
	return c.setDraft(ctx, p, false)
}

// DraftPull makes a pull request a draft again, by its title where the plan has no drafts.
func (c *Client) DraftPull(ctx context.Context, p Pull) error {
	if p.Draft {
		return nil
	}
	err := c.setDraft(ctx, p, true)
	if refusedFor(err, noDrafts) {
		_, err = c.EditPull(ctx, p.Number, DraftTitle+p.Title, "")
	}
	return err
}

func (c *Client) setDraft(ctx context.Context, p Pull, draft bool) error {
	state, name, question := "ready", "markPullRequestReadyForReview", markReady
	if draft {
		state, name, question = "into a draft", "convertPullRequestToDraft", markDraft
	}
	a := operation{action: fmt.Sprintf("turn the pull request #%d %s", p.Number, state), permission: pullsWrite, body: ask{question, map[string]string{"id": p.NodeID}}}
	type changed map[string]struct {
		Pull struct {
			Draft *bool `json:"isDraft"`
		} `json:"pullRequest"`
	}
	_, err := graph(ctx, c, a, func(answer changed) bool {
		is := answer[name].Pull.Draft
		return is != nil && *is == draft
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
	said := make([]string, len(all))
	for i, e := range all {
		said[i] = e.Message
	}
	return &Error{Kind: kind, Status: http.StatusOK, Message: oneLine(strings.Join(said, "; "))}
}

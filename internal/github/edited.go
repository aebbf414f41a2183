package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// JobBegan is when somebody asked for a job, as far as we are let know.
func (c *Client) JobBegan(ctx context.Context, id int64) (at time.Time, known bool, err error) {
	a := act{what: fmt.Sprintf("ask when job %d was asked for", id), needs: "actions: read"}
	job, err := one[struct {
		At stamp `json:"run_started_at"` // of this attempt: who asks again has read again
	}](ctx, c, a, fmt.Sprintf("actions/runs/%d", id))
	if err != nil && Withheld(err) {
		return time.Time{}, false, nil
	}
	return job.At.Time, !job.At.IsZero(), err
}

// lastEdited asks what REST does not tell: there every comment moves the date
// of the issue.
const lastEdited = `query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { issue(number: %d) {
    lastEditedAt
    timelineItems(last: 1, itemTypes: [RENAMED_TITLE_EVENT]) { nodes { ... on RenamedTitleEvent { createdAt } } }
  } }
}`

type editedIssue struct {
	Data struct {
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
	} `json:"data"`
	Errors []graphqlError `json:"errors"`
}

// LastEdited is when the title or the text of an issue was last changed; zero
// where that never was.
func (c *Client) LastEdited(ctx context.Context, number int) (time.Time, error) {
	a := act{what: fmt.Sprintf("ask when #%d was last edited", number), needs: issuesRead}
	answer, err := graph[editedIssue](ctx, c, a, fmt.Sprintf(lastEdited, number))
	if err == nil && len(answer.Errors) > 0 {
		err = graphqlProblem(answer.Errors)
	}
	issue := answer.Data.Repository.Issue
	at := issue.Body.Time
	for _, renamed := range issue.Timeline.Nodes {
		if renamed.At.After(at) {
			at = renamed.At.Time
		}
	}
	return at, err
}

// graph asks a question about the repository by GraphQL.
func graph[T any](ctx context.Context, c *Client, a act, question string) (T, error) {
	return ask(ctx, c, a, func(ctx context.Context) (answer T, err error) {
		req, err := c.api.NewRequest(http.MethodPost, c.graphql, query{question, map[string]string{"owner": c.Owner, "name": c.Repo}})
		if err != nil {
			return answer, fmt.Errorf("write the query: %w", err)
		}
		_, err = c.api.Do(ctx, req, &answer)
		return answer, err
	})
}

// Withheld tells of what GitHub keeps from us, or has not got.
func Withheld(err error) bool { return errors.Is(err, Forbidden) || errors.Is(err, NotFound) }

package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

const markReady = `mutation($id: ID!) {
  markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } }
}`

type query struct {
	Query     string            `json:"query"`
	Variables map[string]string `json:"variables"`
}

type readied struct {
	Data struct {
		Marked struct {
			Pull struct {
				Draft *bool `json:"isDraft"`
			} `json:"pullRequest"`
		} `json:"markPullRequestReadyForReview"`
	} `json:"data"`
	Errors []graphqlError `json:"errors"`
}

type graphqlError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// ReadyPull turns a draft into a pull request that asks for review. REST
// cannot; GraphQL can. One that is ready stays so, and one whose title says
// draft in place of GitHub loses those words.
func (c *Client) ReadyPull(ctx context.Context, p Pull) error {
	if p.Says() {
		_, err := c.EditPull(ctx, p.Number, strings.TrimPrefix(p.Title, DraftTitle), "")
		return err
	}
	if !p.Draft {
		return nil
	}
	a := act{what: fmt.Sprintf("turn the pull request #%d ready", p.Number), needs: pullsWrite}
	return do(ctx, c, a, func(ctx context.Context) error {
		req, err := c.api.NewRequest(http.MethodPost, c.graphql, query{markReady, map[string]string{"id": p.NodeID}})
		if err != nil {
			return fmt.Errorf("write the query: %w", err)
		}
		var answer readied
		if _, err := c.api.Do(ctx, req, &answer); err != nil {
			return err
		}
		return answer.problem()
	})
}

// problem finds what went wrong in an answer that is 200 in any case.
func (r readied) problem() error {
	if len(r.Errors) > 0 {
		return graphqlProblem(r.Errors)
	}
	if draft := r.Data.Marked.Pull.Draft; draft == nil || *draft {
		return errEmpty
	}
	return nil
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

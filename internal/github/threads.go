package github

import (
	"context"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v60/github"
)

// openThreads asks what REST does not tell: which threads are not resolved.
const openThreads = `query($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) { pullRequest(number: %d) {
    reviewThreads(first: 100%s) { pageInfo { endCursor hasNextPage } nodes { isResolved comments(first: 1) { nodes { databaseId } } } }
  } }
}`

type threads struct {
	Data struct {
		Repository struct {
			Pull struct {
				Threads struct {
					Page struct {
						End  string `json:"endCursor"`
						More bool   `json:"hasNextPage"`
					} `json:"pageInfo"`
					Nodes []struct {
						Resolved bool `json:"isResolved"`
						Comments struct {
							Nodes []struct {
								ID int64 `json:"databaseId"`
							} `json:"nodes"`
						} `json:"comments"`
					} `json:"nodes"`
				} `json:"reviewThreads"`
			} `json:"pullRequest"`
		} `json:"repository"`
	} `json:"data"`
	Errors []graphqlError `json:"errors"`
}

// OpenThreads are the threads of a pull request that nobody has resolved, by
// their first comments.
func (c *Client) OpenThreads(ctx context.Context, number int) (map[int64]bool, error) {
	a := act{what: fmt.Sprintf("ask which threads of #%d are open", number), needs: pullsRead}
	open, after := map[int64]bool{}, ""
	for range heardPages {
		answer, err := graph[threads](ctx, c, a, fmt.Sprintf(openThreads, number, after))
		if err == nil && len(answer.Errors) > 0 {
			err = graphqlProblem(answer.Errors)
		}
		if err != nil {
			return open, err
		}
		page := answer.Data.Repository.Pull.Threads
		for _, thread := range page.Nodes {
			for _, first := range thread.Comments.Nodes {
				open[first.ID] = !thread.Resolved
			}
		}
		if !page.Page.More {
			return open, nil
		}
		after = fmt.Sprintf(", after: %q", page.Page.End)
	}
	return open, nil
}

// Reply answers in the thread that a comment of a pull request began.
func (c *Client) Reply(ctx context.Context, number int, thread int64, body string) (Comment, error) {
	a := act{what: fmt.Sprintf("answer in a thread of #%d", number), needs: pullsWrite, once: true}
	return c.write(ctx, a, body, func(ctx context.Context, text *gh.IssueComment) (*gh.IssueComment, error) {
		path := fmt.Sprintf("repos/%s/%s/pulls/%d/comments/%d/replies", c.Owner, c.Repo, number, thread)
		req, err := c.api.NewRequest(http.MethodPost, path, text)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		said := new(gh.IssueComment)
		_, err = c.api.Do(ctx, req, said)
		return said, err
	})
}

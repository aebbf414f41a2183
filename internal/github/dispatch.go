package github

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

const actionsWrite = "actions: write"

// Dispatch starts a workflow on a branch with these inputs.
func (c *Client) Dispatch(ctx context.Context, workflow, branch string, inputs map[string]any) error {
	// Twice would be two jobs: what got no answer is looked for before it is
	// tried again.
	a := act{what: "start " + workflow, needs: actionsWrite, once: true}
	return do(ctx, c, a, func(ctx context.Context) error {
		event := gh.CreateWorkflowDispatchEventRequest{Ref: branch, Inputs: inputs}
		_, err := c.api.Actions.CreateWorkflowDispatchEventByFileName(ctx, c.Owner, c.Repo, workflow, event)
		return err
	})
}

// Began tells whether a job of the workflow has begun since whose title holds
// the word.
func (c *Client) Began(ctx context.Context, workflow, word string, since time.Time) (bool, error) {
	found, err := one[struct {
		Runs []struct {
			Title string `json:"display_title"`
		} `json:"workflow_runs"`
	}](ctx, c, act{what: "list the jobs of " + workflow, needs: actionsWrite},
		fmt.Sprintf("actions/workflows/%s/runs?event=workflow_dispatch&per_page=100&created=%s",
			url.PathEscape(workflow), url.QueryEscape(">="+since.UTC().Format(time.RFC3339))))
	if err != nil {
		return false, err
	}
	for _, run := range found.Runs {
		if strings.Contains(run.Title, word) {
			return true, nil
		}
	}
	return false, nil
}

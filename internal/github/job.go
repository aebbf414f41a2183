package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// A job is a run of a workflow, by the number that GITHUB_RUN_ID has.

// JobEnded tells whether a job is over, as far as we are let know.
func (c *Client) JobEnded(ctx context.Context, id int64) (ended, known bool, err error) {
	a := act{what: fmt.Sprintf("ask whether job %d is at work", id), needs: "actions: read"}
	job, err := ask(ctx, c, a, func(ctx context.Context) (*gh.WorkflowRun, error) {
		job, _, err := c.api.Actions.GetWorkflowRunByID(ctx, c.Owner, c.Repo, id)
		if err == nil && job.GetStatus() == "" {
			err = errEmpty
		}
		return job, err
	})
	switch {
	case errors.Is(err, Forbidden) || errors.Is(err, NotFound):
		return false, false, nil
	case err != nil:
		return false, false, err
	}
	return job.GetStatus() == "completed", true, nil
}

// CancelJob asks the runner of a job to end it. One that is over already is
// fine.
func (c *Client) CancelJob(ctx context.Context, id int64) error {
	a := act{what: fmt.Sprintf("cancel job %d", id), needs: "actions: write"}
	err := do(ctx, c, a, func(ctx context.Context) error {
		_, err := c.api.Actions.CancelWorkflowRunByID(ctx, c.Owner, c.Repo, id)
		if errors.As(err, new(*gh.AcceptedError)) {
			return nil
		}
		return err
	})
	if e, is := errors.AsType[*Error](err); is && strings.Contains(e.Message, "completed") {
		return nil
	}
	return err
}

package github

import (
	"context"
	"errors"
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

// began is a job as the list of a workflow shows it.
type began struct {
	Title string `json:"display_title"`
	At    stamp  `json:"created_at"`
}

// maxJobs bounds how much of the list of jobs is read: 100 a page.
const maxJobs = 10

// Began tells whether a job of the workflow has begun since whose title holds
// the word.
func (c *Client) Began(ctx context.Context, workflow, word string, since time.Time) (bool, error) {
	since = since.Truncate(time.Second) // as GitHub's own dates are
	for page, pages := 1, 0; page != 0 && pages < maxJobs; pages++ {
		jobs, next, err := c.dispatched(ctx, workflow, page)
		if err != nil {
			return false, err
		}
		for _, job := range jobs { // the newest first
			if job.At.Before(since) {
				return false, nil
			}
			if strings.Contains(job.Title, word) {
				return true, nil
			}
		}
		page = next
	}
	return false, nil
}

func (c *Client) dispatched(ctx context.Context, workflow string, page int) (jobs []began, next int, err error) {
	path := fmt.Sprintf("actions/workflows/%s/runs?event=workflow_dispatch&per_page=100&page=%d", url.PathEscape(workflow), page)
	jobs, err = ask(ctx, c, act{what: "list the jobs of " + workflow, needs: actionsWrite}, func(ctx context.Context) ([]began, error) {
		var found struct {
			Jobs []began `json:"workflow_runs"`
		}
		var err error
		next, err = c.get(ctx, path, &found)
		return found.Jobs, err
	})
	return jobs, next, err
}

// JobBegan is when somebody asked for a job, by the number of GITHUB_RUN_ID;
// known is false where GitHub does not tell.
func (c *Client) JobBegan(ctx context.Context, id int64) (at time.Time, known bool, err error) {
	a := act{what: fmt.Sprintf("ask when job %d was asked for", id), needs: "actions: read"}
	job, err := one[struct {
		At stamp `json:"run_started_at"` // of this attempt: who asks again has read again
	}](ctx, c, a, fmt.Sprintf("actions/runs/%d", id))
	if Withheld(err) {
		return time.Time{}, false, nil
	}
	return job.At.Time, !job.At.IsZero(), err
}

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
	if Withheld(err) {
		return false, false, nil
	}
	return job.GetStatus() == "completed", err == nil, err
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

package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

const actionsWrite = "actions: write"

// Dispatch starts a workflow on a branch with these inputs.
func (c *Client) Dispatch(ctx context.Context, workflow, branch string, inputs map[string]any) error {
	// Twice would be two jobs: callers look for the job before they try again.
	return send(ctx, c, operation{
		action: "start " + workflow, permission: actionsWrite, notRepeatable: true,
		method: http.MethodPost, path: "actions/workflows/" + url.PathEscape(workflow) + "/dispatches",
		body: gh.CreateWorkflowDispatchEventRequest{Ref: branch, Inputs: inputs},
	})
}

type jobStarts struct {
	Title string `json:"display_title"`
	At    stamp  `json:"created_at"`
}

const maxJobs = 10

// HasJobStarted reports whether a job of the workflow with that word in its title began since.
func (c *Client) HasJobStarted(ctx context.Context, workflow, word string, since time.Time) (found bool, err error) {
	since = since.Truncate(time.Second) // as GitHub's own dates are
	type page struct {
		Jobs []jobStarts `json:"workflow_runs"`
	}
	a := operation{action: "list the jobs of " + workflow, permission: actionsWrite}
	a.path = fmt.Sprintf("actions/workflows/%s/runs?event=workflow_dispatch", url.PathEscape(workflow))
	err = eachPage(ctx, c, a, maxJobs, func(p page) bool {
		for _, job := range p.Jobs { // the newest first
			if job.At.Before(since) {
				return false
			}
			if strings.Contains(job.Title, word) {
				found = true
				return false
			}
		}
		return true
	})
	return found, err
}

// JobBegan returns when a job was requested; zero where GitHub does not report it.
func (c *Client) JobBegan(ctx context.Context, id int64) (time.Time, error) {
	found, err := c.job(ctx, id)
	return found.At.Time, err
}

type job struct {
	Status string `json:"status"`
	At     stamp  `json:"run_started_at"` // of this attempt: who asks again has read again
}

// JobEnded reports whether GitHub says that a job is over.
func (c *Client) JobEnded(ctx context.Context, id int64) (bool, error) {
	found, err := c.job(ctx, id)
	return found.Status == "completed", err
}

func (c *Client) job(ctx context.Context, id int64) (job, error) {
	found, err := request[job](ctx, c, operation{
		action: fmt.Sprintf("read the state of job %d", id), permission: "actions: read",
		path: fmt.Sprintf("actions/runs/%d", id),
	})
	if Withheld(err) {
		return job{}, nil
	}
	return found, err
}

// CancelJob asks for a job's end. One that has ended is fine.
func (c *Client) CancelJob(ctx context.Context, id int64) error {
	err := send(ctx, c, operation{
		action: fmt.Sprintf("cancel job %d", id), permission: actionsWrite,
		method: http.MethodPost, path: fmt.Sprintf("actions/runs/%d/cancel", id),
	})
	if e, ok := errors.AsType[*Error](err); ok && strings.Contains(e.Message, "completed") {
		return nil
	}
	return err
}

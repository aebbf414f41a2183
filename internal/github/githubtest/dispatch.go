package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// dispatchWorkflow adds a job that waits, as one of a workflow would whose
// run-name says its issue and its id. It does nothing; the log of requests has
// what was asked for.
func dispatchWorkflow(c *call) answer {
	var asked struct {
		Ref    string
		Inputs map[string]any
	}
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if resolve(c.repo, asked.Ref) == "" {
		return fail(http.StatusUnprocessableEntity, "No ref found for: "+asked.Ref)
	}
	title := "ralph"
	for _, input := range []string{"issue", "id"} {
		if word, is := asked.Inputs[input].(string); is {
			title += " " + word
		}
	}
	job := &WorkflowRun{ID: c.server.nextID(), Status: "queued", Title: title, began: c.server.now()}
	if c.repo.jobs == nil {
		c.repo.jobs = map[int64]*WorkflowRun{}
	}
	c.repo.jobs[job.ID] = job
	return noContent()
}

// listJobs lists the jobs of all workflows: there is but one.
func listJobs(c *call) answer {
	since, err := time.Parse(time.RFC3339, strings.TrimPrefix(c.request.URL.Query().Get("created"), ">="))
	var found []*WorkflowRun
	for _, job := range c.repo.jobs {
		if err != nil || !job.began.Before(since) {
			found = append(found, job)
		}
	}
	slices.SortFunc(found, func(a, b *WorkflowRun) int { return int(b.ID - a.ID) })
	reply := page(c, found, func(job *WorkflowRun) object { return c.server.jobJSON(c.repo, job) })
	reply.body = object{"total_count": len(found), "workflow_runs": reply.body}
	return reply
}

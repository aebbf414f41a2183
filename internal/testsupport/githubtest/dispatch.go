package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
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
	job := &WorkflowRun{ID: c.server.nextID(), Status: "queued", Title: fmt.Sprintf("ralph #%v %v", asked.Inputs["issue"], asked.Inputs["id"]), began: c.server.now()}
	if c.repo.jobs == nil {
		c.repo.jobs = map[int64]*WorkflowRun{}
	}
	c.repo.jobs[job.ID] = job
	return noContent()
}

// listJobs lists the jobs of all workflows, the newest first: there is but one.
func listJobs(c *call) answer {
	found := slices.SortedFunc(maps.Values(c.repo.jobs), func(a, b *WorkflowRun) int { return int(b.ID - a.ID) })
	reply := page(c, found, func(job *WorkflowRun) object { return c.server.jobJSON(c.repo, job) })
	reply.body = object{"total_count": len(found), "workflow_runs": reply.body}
	return reply
}

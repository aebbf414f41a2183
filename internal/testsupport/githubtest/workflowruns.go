package githubtest

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// WorkflowRun is a run of a workflow.
type WorkflowRun struct {
	ID         int64
	Title      string // ralph, where it has none
	Status     string // queued, in_progress or completed
	Conclusion string // success, cancelled, …; empty while it goes on
	Cancelled  bool   // somebody asked for its end
	Fork       string // owner/name of the repository that it ran for, if another
	began      time.Time
}

// SetWorkflowRun adds a run of a workflow, or changes one.
func (s *Server) SetWorkflowRun(name string, job WorkflowRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.repo(name); r != nil {
		job.began = s.now()
		if r.jobs == nil {
			r.jobs = map[int64]*WorkflowRun{}
		}
		r.jobs[job.ID] = &job
	}
}

// WorkflowRun returns a run of a workflow as it stands.
func (s *Server) WorkflowRun(name string, id int64) (WorkflowRun, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repo(name)
	if r == nil || r.jobs[id] == nil {
		return WorkflowRun{}, false
	}
	return *r.jobs[id], true
}

func getJob(c *call) answer {
	job := c.repo.jobs[c.number("run_id")]
	if job == nil {
		return notFound()
	}
	return ok(c.server.jobJSON(c.repo, job))
}

// cancelJob asks the runner to end a job, which ends it when it likes.
func cancelJob(c *call) answer {
	job := c.repo.jobs[c.number("run_id")]
	switch {
	case job == nil:
		return notFound()
	case job.Status == "completed":
		return fail(http.StatusConflict, "Cannot cancel a workflow run that is completed.")
	}
	job.Cancelled = true
	return answer{status: http.StatusAccepted, body: object{}}
}

func (s *Server) jobJSON(r *repo, job *WorkflowRun) object {
	id := strconv.FormatInt(job.ID, 10)
	api, page := s.api("/repos/"+r.name()+"/actions/runs/"+id), s.URL+"/"+r.name()+"/actions/runs/"+id
	head := branch(r, r.DefaultBranch)
	return object{
		"id": job.ID, "node_id": nodeID("WFR", job.ID), "name": "ralph", "head_branch": r.DefaultBranch, "head_sha": head,
		"path": ".github/workflows/ralph.yml", "display_title": cmp.Or(job.Title, "ralph"), "run_number": 1, "run_attempt": 1, "event": "issues",
		"status": job.Status, "conclusion": orNull(job.Conclusion), "workflow_id": 1, "check_suite_id": 1, "check_suite_node_id": nodeID("CS", 1),
		"url": api, "html_url": page, "pull_requests": []object{}, "created_at": stamp(job.began), "updated_at": stamp(job.began),
		"run_started_at": stamp(job.began), "actor": s.userJSON(r.Owner), "triggering_actor": s.userJSON(r.Owner),
		"jobs_url": api + "/jobs", "logs_url": api + "/logs", "check_suite_url": s.api("/repos/" + r.name() + "/check-suites/1"),
		"artifacts_url": api + "/artifacts", "cancel_url": api + "/cancel", "rerun_url": api + "/rerun",
		"previous_attempt_url": nil, "workflow_url": s.api("/repos/" + r.name() + "/actions/workflows/1"),
		"head_commit":     object{"id": head, "tree_id": head, "message": "", "timestamp": stamp(job.began), "author": nil, "committer": nil},
		"repository":      s.repoJSON(r),
		"head_repository": s.headRepo(r, job),
	}
}

func (s *Server) headRepo(r *repo, job *WorkflowRun) object {
	if fork := s.repo(job.Fork); fork != nil {
		return s.repoJSON(fork)
	}
	return s.repoJSON(r)
}

// getWorkflowJob returns a job, by the number of its check.
func getWorkflowJob(c *call) answer {
	check := c.checkOrNil("job_id")
	if check == nil || c.repo.jobs[check.Run] == nil {
		return notFound()
	}
	s, r := c.server, c.repo
	page := fmt.Sprintf("%s/%s/actions/runs/%d", s.URL, r.name(), check.Run)
	return ok(object{
		"id": check.ID, "run_id": check.Run, "run_attempt": 1, "node_id": nodeID("CR", check.ID), "head_sha": check.SHA,
		"run_url": s.api(fmt.Sprintf("/repos/%s/actions/runs/%d", r.name(), check.Run)), "url": s.api(fmt.Sprintf("/repos/%s/actions/jobs/%d", r.name(), check.ID)),
		"html_url": fmt.Sprintf("%s/job/%d", page, check.ID), "status": "completed", "conclusion": check.Conclusion, "name": check.Name,
		"created_at": stamp(check.At), "started_at": stamp(check.At), "completed_at": stamp(check.At), "workflow_name": cmp.Or(check.Workflow, "CI"),
		"head_branch": "", "labels": []string{}, "steps": []object{}, "runner_id": nil, "runner_name": nil, "runner_group_id": nil, "runner_group_name": nil,
		"check_run_url": s.api(fmt.Sprintf("/repos/%s/check-runs/%d", r.name(), check.ID)),
	})
}

package githubtest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Event says whose doing a webhook payload tells of.
type Event struct {
	Repo   string
	Issue  int
	Sender string
}

// LabelEvent returns the payload of issues.labeled, or of pull_request.labeled where
// the number is a pull request's.
func (s *Server) LabelEvent(e Event, label string) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object {
		body := s.subject(r, i, "labeled")
		if found := r.label(label); found != nil {
			body["label"] = s.labelJSON(r, found)
		}
		return body
	})
}

// CommentEvent returns the payload of issue_comment.created.
func (s *Server) CommentEvent(e Event, comment int64) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object { return s.commentEvent(r, i, comment, "created") })
}

// EditEvent returns the payload of issue_comment.edited; before is the old text.
func (s *Server) EditEvent(e Event, comment int64, before string) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object {
		body := s.commentEvent(r, i, comment, "edited")
		body["changes"] = object{"body": object{"from": before}}
		return body
	})
}

// ReviewEvent returns the payload of pull_request_review.submitted.
func (s *Server) ReviewEvent(e Event, review int64) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object {
		body := object{"action": "submitted"}
		if i.pull == nil {
			return body
		}
		body["pull_request"] = s.pullJSON(r, i)
		if n := slices.IndexFunc(i.pull.reviews, func(v Review) bool { return v.ID == review }); n >= 0 {
			shown := s.reviewJSON(r, i, i.pull.reviews[n])
			// Webhooks write the state in lower case, the API in upper case.
			shown["state"] = map[string]string{"APPROVED": "approved", "CHANGES_REQUESTED": "changes_requested", "COMMENTED": "commented"}[i.pull.reviews[n].State]
			body["review"] = shown
		}
		return body
	})
}

// PullEvent returns the payload of pull_request with an action.
func (s *Server) PullEvent(e Event, action string) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object { return s.subject(r, i, action) })
}

// GroupEvent returns the payload of merge_group.checks_requested for a commit on top of the
// default branch; its issue is not used.
func (s *Server) GroupEvent(e Event, head string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(e.Repo)
	return s.payload(r, e.Sender, object{"action": "checks_requested", "merge_group": object{
		"head_sha": head, "head_ref": "refs/heads/gh-readonly-queue/main/pr-1-" + head,
		"base_sha": branch(r, r.DefaultBranch), "base_ref": "refs/heads/" + r.DefaultBranch,
	}})
}

// ProvedEvent returns the payload of workflow_run.completed for a run on a pull request.
func (s *Server) ProvedEvent(e Event, workflow string) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object {
		run := object{
			"id": 1, "name": "ralph proof", "event": "pull_request", "path": workflow, "conclusion": "success", "pull_requests": []object{},
			"head_sha": s.tip(i.pull), "head_branch": i.pull.head, "head_repository": object{"full_name": i.pull.headRepo},
		}
		return object{"action": "completed", "workflow_run": run}
	})
}

// CIEvent returns the payload of workflow_run.completed, check_suite.completed or status
// for the head of a pull request, as it was at sha.
func (s *Server) CIEvent(e Event, kind, sha, conclusion string) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object {
		of := object{"id": 1, "head_sha": sha, "head_branch": i.pull.head, "conclusion": conclusion, "status": "completed", "pull_requests": []object{}}
		switch kind {
		case "status":
			branches := []object{{"name": i.pull.head, "commit": object{"sha": s.tip(i.pull)}}}
			return object{"sha": sha, "state": conclusion, "context": "ci/outside", "branches": branches}
		case "workflow_run":
			of["head_repository"] = object{"full_name": i.pull.headRepo}
		}
		return object{"action": "completed", kind: of}
	})
}

// PushEvent returns the payload of push to a branch.
func (s *Server) PushEvent(e Event, name string) ([]byte, error) {
	return s.event(e, func(r *repo, _ *issue) object { return object{"ref": "refs/heads/" + name, "after": branch(r, name)} })
}

// DispatchEvent returns the payload of workflow_dispatch; its issue is not used.
func (s *Server) DispatchEvent(e Event, inputs map[string]string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(e.Repo)
	return s.payload(r, e.Sender, object{
		"inputs": inputs, "ref": "refs/heads/" + r.DefaultBranch, "workflow": ".github/workflows/ralph.yml",
	})
}

func (s *Server) event(e Event, tell func(*repo, *issue) object) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, i := s.mustIssue(e.Repo, e.Issue)
	return s.payload(r, e.Sender, tell(r, i))
}

// payload adds what every payload has.
func (s *Server) payload(r *repo, sender string, body object) ([]byte, error) {
	body["repository"], body["sender"] = s.repoJSON(r), s.userJSON(sender)
	text, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode an event of %s: %w", r.name(), err)
	}
	return text, nil
}

// subject returns the issue, or the pull request, that an event is about.
func (s *Server) subject(r *repo, i *issue, action string) object {
	if i.pull != nil {
		return object{"action": action, "number": i.Number, "pull_request": s.fullPullJSON(r, i)}
	}
	return object{"action": action, "issue": s.issueJSON(r, i)}
}

// commentEvent shows a pull request as an issue with a pull_request field, as
// GitHub does for comments.
func (s *Server) commentEvent(r *repo, i *issue, id int64, action string) object {
	body := object{"action": action, "issue": s.issueJSON(r, i)}
	if comment := r.comments[id]; comment != nil {
		body["comment"] = s.commentJSON(r, comment)
	}
	return body
}

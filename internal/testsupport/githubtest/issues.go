package githubtest

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Issue is an issue, or the issue side of a pull request.
type Issue struct {
	Number    int
	ID        int64
	Title     string
	Body      string
	Author    string
	State     string // open or closed
	Labels    []string
	Pull      bool // it is a pull request
	Reactions []Reaction
	CreatedAt time.Time
	UpdatedAt time.Time
	EditedAt  time.Time // of its title or text
	ClosedAt  time.Time
	MergedAt  time.Time // of a pull request
}

type issue struct {
	Issue
	pull *pull
}

func (i *issue) copy() Issue {
	out := i.Issue
	out.Labels = slices.Clone(i.Labels)
	out.Reactions = slices.Clone(i.Reactions)
	return out
}

func (r *repo) openCount() int {
	open := 0
	for _, i := range r.issues {
		if i.State == "open" {
			open++
		}
	}
	return open
}

// newIssue numbers and stamps an issue, keeping stamps that it has.
func (s *Server) newIssue(r *repo, settings Issue) *issue {
	made := &issue{Issue: settings}
	r.last++
	made.Number, made.ID = r.last, s.nextID()
	made.State = cmp.Or(settings.State, "open")
	made.Labels = nil
	if made.CreatedAt.IsZero() {
		made.CreatedAt = s.now()
	}
	if made.UpdatedAt.IsZero() {
		made.UpdatedAt = made.CreatedAt
	}
	s.user(made.Author)
	for _, name := range settings.Labels {
		s.label(r, made, name)
	}
	r.issues[made.Number] = made
	return made
}

// issueOrNil returns the issue that the path speaks of, by itself or by a comment.
func (c *call) issueOrNil() *issue {
	if c.repo == nil {
		return nil
	}
	if comment := c.repo.comments[c.number("comment_id")]; comment != nil {
		return c.repo.issues[comment.Issue]
	}
	return c.repo.issues[int(cmp.Or(c.number("issue_number"), c.number("pull_number")))]
}

func getIssue(c *call) answer {
	i := c.issueOrNil()
	if i == nil {
		return notFound()
	}
	return ok(c.server.issueJSON(c.repo, i))
}

func createIssue(c *call) answer {
	var asked struct{ Title, Body string }
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if asked.Title == "" {
		return invalid(problem{Resource: "Issue", Code: "missing_field", Field: "title"})
	}
	made := c.server.newIssue(c.repo, Issue{Title: asked.Title, Body: asked.Body, Author: c.token.Login})
	return created(c.server.issueJSON(c.repo, made))
}

func (s *Server) issueJSON(r *repo, i *issue) object {
	base, page := s.api(fmt.Sprintf("/repos/%s/issues/%d", r.name(), i.Number)), fmt.Sprintf("%s/%s/issues/%d", s.URL, r.name(), i.Number)
	body := object{
		"id": i.ID, "node_id": nodeID("I", i.ID), "url": base, "repository_url": s.api("/repos/" + r.name()),
		"labels_url": base + "/labels{/name}", "comments_url": base + "/comments", "events_url": base + "/events",
		"timeline_url": base + "/timeline", "html_url": page, "number": i.Number, "title": i.Title,
		"user": s.userJSON(i.Author), "labels": s.labelsJSON(r, i), "state": i.State, "state_reason": nil,
		"locked": false, "active_lock_reason": nil, "assignee": nil, "assignees": []object{},
		"milestone": nil, "comments": len(r.commentsOf(i.Number)), "created_at": stamp(i.CreatedAt),
		"updated_at": stamp(i.UpdatedAt), "closed_at": stampOrNull(i.ClosedAt), "closed_by": nil,
		"author_association": r.association(i.Author), "body": orNull(i.Body),
		"performed_via_github_app": nil,
	}
	if i.State == "closed" {
		body["state_reason"] = "completed"
	}
	if i.pull != nil {
		body["node_id"], body["draft"], body["state_reason"] = nodeID("PR", i.ID), i.pull.draft, nil
		body["html_url"] = i.pull.page(s, r, i)
		body["pull_request"] = object{
			"url": s.api(fmt.Sprintf("/repos/%s/pulls/%d", r.name(), i.Number)), "html_url": body["html_url"],
			"diff_url": i.pull.page(s, r, i) + ".diff", "patch_url": i.pull.page(s, r, i) + ".patch", "merged_at": stampOrNull(i.MergedAt),
		}
	}
	return body
}

func (s *Server) usersJSON(logins []string) []object {
	users := []object{}
	for _, login := range logins {
		users = append(users, s.userJSON(login))
	}
	return users
}

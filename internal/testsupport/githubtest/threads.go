package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// remark finds a remark on a line of a pull request.
func (r *repo) remark(id int64) (*issue, *ReviewComment) {
	for _, i := range r.issues {
		if i.pull == nil {
			continue
		}
		if at := slices.IndexFunc(i.pull.threads, func(c ReviewComment) bool { return c.ID == id }); at >= 0 {
			return i, &i.pull.threads[at]
		}
	}
	return nil, nil
}

// EditRemark changes a remark on a line of a pull request: its text, whether
// its thread is resolved.
func (s *Server) EditRemark(name string, id int64, touch func(*ReviewComment)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.mustRepo(name).remark(id); found != nil {
		touch(found)
	}
}

// Remarks lists the remarks on lines of a pull request, oldest first.
func (s *Server) Remarks(name string, number int) []ReviewComment {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, i := s.mustIssue(name, number)
	if i.pull == nil {
		return nil
	}
	return slices.Clone(i.pull.threads)
}

// RemarkEvent returns the payload of pull_request_review_comment.created.
func (s *Server) RemarkEvent(e Event, id int64) ([]byte, error) {
	return s.event(e, func(r *repo, i *issue) object {
		body := object{"action": "created"}
		if of, found := r.remark(id); found != nil {
			body["comment"], body["pull_request"] = s.remarkJSON(r, of, *found), s.pullJSON(r, of)
		}
		return body
	})
}

// replyToRemark answers in a thread. GitHub takes the first remark of it only.
func replyToRemark(c *call) answer {
	i := c.pullOrNil()
	if i == nil {
		return notFound()
	}
	var asked struct{ Body string }
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	_, first := c.repo.remark(c.number("comment_id"))
	if first == nil || first.ReplyTo != 0 {
		return fail(http.StatusNotFound, "Parent comment not found")
	}
	if wrong := checkText("PullRequestReviewComment", asked.Body); wrong != nil {
		return *wrong
	}
	made := ReviewComment{
		ID: c.server.nextID(), Review: first.Review, ReplyTo: first.ID, Author: c.token.Login, Body: asked.Body,
		Path: first.Path, Line: first.Line, Commit: first.Commit, DiffHunk: first.DiffHunk, At: c.server.now(),
	}
	i.pull.threads = append(i.pull.threads, made)
	return created(c.server.remarkJSON(c.repo, i, made))
}

// questions are what GraphQL is asked because REST does not tell.
var questions = pattern.Of(`\b(pullRequest|issue)\(number: (\d+)\)\s*\{\s*(reviewThreads|lastEditedAt)\b`)

// answerTo answers the queries for the token's login, for the threads of a pull
// request and whether they are resolved, and for when an issue was edited; ok is
// false for any other.
func (s *Server) answerTo(c *call, asked query) (data object, ok bool) {
	if strings.Contains(asked.Query, "viewer") {
		return object{"data": object{"viewer": object{"login": c.token.Login}}}, true
	}
	found := questions.FindStringSubmatch(asked.Query)
	if found == nil {
		return nil, false
	}
	owner, _ := asked.Variables["owner"].(string)
	name, _ := asked.Variables["name"].(string)
	number, _ := strconv.Atoi(found[2])
	r, kind := s.repo(owner+"/"+name), found[1]
	if r == nil || !c.token.sees(r) || r.issues[number] == nil || (r.issues[number].pull != nil) != (kind == "pullRequest") {
		return refusal("repository", "NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the number of %d.", number)), true
	}
	told := object{"lastEditedAt": stampOrNull(r.issues[number].EditedAt), "timelineItems": object{"nodes": []object{}}}
	if kind == "pullRequest" {
		told = object{"reviewThreads": object{"nodes": r.issues[number].pull.threadsJSON()}}
	}
	return object{"data": object{"repository": object{kind: told}}}, true
}

func (p *pull) threadsJSON() []object {
	nodes := []object{}
	for _, one := range p.threads {
		if one.ReplyTo == 0 {
			nodes = append(nodes, object{"id": nodeID("PRRT", one.ID), "isResolved": one.Resolved, "comments": object{"nodes": []object{{"databaseId": one.ID}}}})
		}
	}
	return nodes
}

// resolve answers the mutation that resolves a thread.
func (s *Server) resolve(c *call, asked query) object {
	const name = "resolveReviewThread"
	for _, r := range s.repos {
		for _, i := range r.issues {
			if i.pull == nil || !c.token.sees(r) {
				continue
			}
			at := slices.IndexFunc(i.pull.threads, func(one ReviewComment) bool { return one.ReplyTo == 0 && nodeID("PRRT", one.ID) == asked.node() })
			if at < 0 {
				continue
			}
			c.repo = r
			if c.permit(need{scope: "pull_requests", level: "write", role: "write"}) != nil {
				return refusal(name, "FORBIDDEN", inaccessible)
			}
			i.pull.threads[at].Resolved = true
			return object{"data": object{name: object{"thread": object{"isResolved": true}}}}
		}
	}
	return refusal(name, "NOT_FOUND", "Could not resolve to a node with the global id of '"+asked.node()+"'.")
}

// ofRemark reports whether a path speaks of a remark, and not of a comment.
func ofRemark(path string) bool { return strings.Contains(path, "/pulls/comments/") }

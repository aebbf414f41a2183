package githubtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxText is the longest body that GitHub takes, in characters.
const maxText = 65536

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID        int64
	Issue     int
	Author    string
	Body      string
	Reactions []Reaction
	CreatedAt time.Time
	UpdatedAt time.Time
}

func (c Comment) copy() Comment {
	c.Reactions = slices.Clone(c.Reactions)
	return c
}

// commentsOf lists the comments of an issue.
func (r *repo) commentsOf(number int) []*Comment {
	var found []*Comment
	for _, id := range slices.Sorted(maps.Keys(r.comments)) {
		if r.comments[id].Issue == number {
			found = append(found, r.comments[id])
		}
	}
	return found
}

func (s *Server) newComment(r *repo, settings Comment) *Comment {
	made := settings
	made.ID = s.nextID()
	if made.CreatedAt.IsZero() {
		made.CreatedAt = s.now()
	}
	if made.UpdatedAt.IsZero() {
		made.UpdatedAt = made.CreatedAt
	}
	s.user(made.Author)
	r.comments[made.ID] = &made
	if i := r.issues[made.Issue]; i != nil && made.CreatedAt.After(i.UpdatedAt) {
		i.UpdatedAt = made.CreatedAt
	}
	return &made
}

func listComments(c *call) answer {
	i := c.issueOrNil()
	if i == nil {
		return notFound()
	}
	return page(c, c.repo.commentsOf(i.Number), func(one *Comment) object { return c.server.commentJSON(c.repo, one) })
}

func createComment(c *call) answer {
	i := c.issueOrNil()
	if i == nil {
		return notFound()
	}
	text, wrong := c.commentText()
	if wrong != nil {
		return *wrong
	}
	made := c.server.newComment(c.repo, Comment{Issue: i.Number, Author: c.token.Login, Body: text})
	return created(c.server.commentJSON(c.repo, made))
}

// commentText returns the body of a comment, held against GitHub's limits.
func (c *call) commentText() (string, *answer) {
	var asked struct{ Body string }
	if wrong := c.decode(&asked); wrong != nil {
		return "", wrong
	}
	return asked.Body, checkText("IssueComment", asked.Body)
}

func checkText(resource, text string) *answer {
	var reply answer
	switch {
	case strings.TrimSpace(text) == "":
		reply = invalid(problem{Resource: resource, Code: "unprocessable", Field: "data", Message: "Body cannot be blank"})
	case utf8.RuneCountInString(text) > maxText:
		reply = invalid(problem{
			Resource: resource, Code: "unprocessable", Field: "data",
			Message: fmt.Sprintf("Body is too long (maximum is %d characters)", maxText),
		})
	default:
		return nil
	}
	return &reply
}

func editComment(c *call) answer {
	comment := c.repo.comments[c.number("comment_id")]
	if comment == nil {
		return notFound()
	}
	text, wrong := c.commentText()
	if wrong != nil {
		return *wrong
	}
	if refused := c.mayEdit(comment.Author, "write"); refused != nil {
		return *refused
	}
	comment.Body, comment.UpdatedAt = text, c.server.now()
	return ok(c.server.commentJSON(c.repo, comment))
}

func deleteComment(c *call) answer {
	comment := c.repo.comments[c.number("comment_id")]
	if comment == nil {
		return notFound()
	}
	if refused := c.mayEdit(comment.Author, "write"); refused != nil {
		return *refused
	}
	delete(c.repo.comments, comment.ID)
	return noContent()
}

func (s *Server) commentJSON(r *repo, comment *Comment) object {
	base := s.api(fmt.Sprintf("/repos/%s/issues/comments/%d", r.name(), comment.ID))
	page := fmt.Sprintf("%s/%s/issues/%d", s.URL, r.name(), comment.Issue)
	if i := r.issues[comment.Issue]; i != nil && i.pull != nil {
		page = i.pull.page(s, r, i)
	}
	return object{
		"id": comment.ID, "node_id": nodeID("IC", comment.ID), "url": base,
		"html_url":  fmt.Sprintf("%s#issuecomment-%d", page, comment.ID),
		"issue_url": s.api(fmt.Sprintf("/repos/%s/issues/%d", r.name(), comment.Issue)),
		"user":      s.userJSON(comment.Author), "created_at": stamp(comment.CreatedAt), "updated_at": stamp(comment.UpdatedAt),
		"author_association": r.association(comment.Author), "body": comment.Body,
		"performed_via_github_app": nil,
	}
}

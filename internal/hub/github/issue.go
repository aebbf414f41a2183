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

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// The reactions that show the progress of a request.
const (
	Eyes     = "eyes"     // seen
	Rocket   = "rocket"   // done
	Confused = "confused" // no
)

const issuesWrite = "issues: write"

// React puts a reaction on the comment of an event, or else on its issue. Doing it again changes nothing.
func (c *Client) React(ctx context.Context, t trigger.Trigger, content string) error {
	path := fmt.Sprintf("issues/%d", t.Issue.Number)
	switch {
	case t.Comment.ID != 0 && t.Comment.Thread.ID != 0:
		path = fmt.Sprintf("pulls/comments/%d", t.Comment.ID)
	case t.Comment.ID != 0:
		path = fmt.Sprintf("issues/comments/%d", t.Comment.ID)
	}
	return send(ctx, c, operation{
		action: fmt.Sprintf("react with %s on #%d", content, t.Issue.Number), permission: issuesWrite,
		method: http.MethodPost, path: path + "/reactions", body: map[string]string{"content": content},
	})
}

// RemoveLabel takes label off the issue; it is fine if somebody else has.
func (c *Client) RemoveLabel(ctx context.Context, issue int, label string) error {
	action := fmt.Sprintf("take the label %q off #%d", label, issue)
	return c.remove(ctx, action, fmt.Sprintf("issues/%d/labels/%s", issue, url.PathEscape(label)))
}

func (c *Client) remove(ctx context.Context, action, path string) error {
	err := send(ctx, c, operation{action: action, permission: issuesWrite, method: http.MethodDelete, path: path})
	if errors.Is(err, NotFound) {
		return nil
	}
	return err
}

// maxShown is how many bytes of a text an agent reads.
const maxShown = 60_000

// Show returns what GitHub's page shows of a text.
func (c *Client) Show(ctx context.Context, text string) (clean.Page, error) {
	if strings.TrimSpace(text) == "" {
		return clean.Page{}, nil
	}
	op := operation{action: "have GitHub render a text"}
	options := &gh.MarkdownOptions{Mode: "gfm", Context: c.Owner + "/" + c.Repo}
	page, err := withRetry(ctx, c, op, func(ctx context.Context) (string, error) {
		page, _, err := c.api.Markdown.Render(ctx, text, options)
		return page, err
	})
	return clean.FromHTML(page, maxShown), err
}

// ShowIssue returns what the page shows of an issue's text, also of an earlier one. That of a pull request is no
// task, and not rendered.
func (c *Client) ShowIssue(ctx context.Context, issue trigger.Issue) (clean.Page, error) {
	if issue.IsPull {
		return clean.Page{}, nil
	}
	if issue.HTML != "" {
		return clean.FromHTML(issue.HTML, maxShown), nil
	}
	return c.Show(ctx, issue.Body)
}

// IssuePage returns an issue as it stands, with what its page shows. The addresses of pictures work without a token.
func (c *Client) IssuePage(ctx context.Context, number int) (trigger.Issue, clean.Page, error) {
	found, err := c.readIssue(ctx, number)
	return found.read(), clean.FromHTML(found.HTML, maxShown), err
}

// Comment is a comment that stands under an issue.
type Comment struct {
	ID       int64
	URL      string
	Body     string
	Author   string    // its login
	EditedAt time.Time // last, or when it was written; zero: not known
}

// ReadBefore reports whether the comment is unchanged since t. GitHub's times are whole seconds,
// so an edit in the same second may have come after t.
func (c Comment) ReadBefore(t trigger.Trigger) bool {
	return !c.EditedAt.IsZero() && c.EditedAt.Before(t.At)
}

// FindComment finds the oldest comment under the issue that begins with marker and was written
// by our token's login. Anybody can write a marker, and other workflows share a job's login.
func (c *Client) FindComment(ctx context.Context, issue int, marker string) (Comment, bool, error) {
	login, err := c.login(ctx)
	if err != nil {
		return Comment{}, false, err
	}
	a := operation{
		action: fmt.Sprintf("read the comments of #%d", issue), permission: issuesWrite,
		path: fmt.Sprintf("issues/%d/comments", issue),
	}
	found, ok, err := findFirst(ctx, c, a, func(one comment) bool {
		return strings.EqualFold(one.User.Login, login) && strings.HasPrefix(one.Body, marker)
	})
	return found.written(), ok, err
}

// CreateComment does not retry a lost answer: look with FindComment first.
func (c *Client) CreateComment(ctx context.Context, issue int, body string) (Comment, error) {
	return c.write(ctx, operation{
		action: fmt.Sprintf("comment on #%d", issue), permission: issuesWrite, notRepeatable: true,
		method: http.MethodPost, path: fmt.Sprintf("issues/%d/comments", issue),
	}, body)
}

// EditComment changes the comment id.
func (c *Client) EditComment(ctx context.Context, issue int, id int64, body string) (Comment, error) {
	return c.write(ctx, operation{
		action: fmt.Sprintf("edit the comment on #%d", issue), permission: issuesWrite,
		method: http.MethodPatch, path: fmt.Sprintf("issues/comments/%d", id),
	}, body)
}

// DeleteComment removes a comment, which need not be there any more.
func (c *Client) DeleteComment(ctx context.Context, id int64) error {
	return c.remove(ctx, "remove a comment", fmt.Sprintf("issues/comments/%d", id))
}

func (c *Client) write(ctx context.Context, a operation, body string) (Comment, error) {
	a.body = map[string]string{"body": body}
	answer, err := request[comment](ctx, c, a)
	return answer.written(), err
}

func (c comment) written() Comment {
	return Comment{ID: c.ID, URL: c.URL, Body: c.Body, Author: c.User.Login, EditedAt: c.UpdatedAt.Time}
}

// AddLabels also creates missing labels. It returns all labels that are there then.
func (c *Client) AddLabels(ctx context.Context, number int, labels ...string) ([]string, error) {
	all, err := request[[]named](ctx, c, operation{
		action: fmt.Sprintf("label #%d", number), permission: issuesWrite,
		method: http.MethodPost, path: fmt.Sprintf("issues/%d/labels", number),
		body: map[string][]string{"labels": labels},
	})
	var names []string
	for _, label := range all {
		names = append(names, label.Name)
	}
	return names, err
}

// AskReviewer requests a review from a person, or from a team written as owner/team. GitHub refuses all
// of several if one cannot be asked, such as the author, so each is asked alone.
func (c *Client) AskReviewer(ctx context.Context, number int, name string) error {
	asked := gh.ReviewersRequest{Reviewers: []string{strings.TrimPrefix(name, "@")}}
	if _, team, ok := strings.Cut(name, "/"); ok {
		asked = gh.ReviewersRequest{TeamReviewers: []string{team}}
	}
	return send(ctx, c, operation{
		action: fmt.Sprintf("ask %s for a review of #%d", name, number), permission: pullsWrite,
		method: http.MethodPost, path: fmt.Sprintf("pulls/%d/requested_reviewers", number), body: asked,
	})
}

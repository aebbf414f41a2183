package github

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

const (
	issuesRead = "issues: read"
	pullsRead  = "pull-requests: read"
)

// Complete adds what the event lacks: the issue that the workflow names, the pull request of a
// comment, the default branch. It keeps the text of an issue in the event.
func (c *Client) Complete(ctx context.Context, t trigger.Trigger) (trigger.Trigger, error) {
	if t.Issue.Number == 0 && t.Inputs.Issue > 0 {
		found, err := c.readIssue(ctx, t.Inputs.Issue)
		if err != nil {
			return t, err
		}
		t.Issue = found.read()
	}
	if t.Issue.IsPull && t.Pull.Number == 0 {
		found, err := c.readPull(ctx, t.Issue.Number)
		if err != nil {
			return t, err
		}
		t.Pull = found.pull().Pull
	}
	if t.Repo.DefaultBranch == "" {
		var err error
		t.Repo.DefaultBranch, _, err = c.DefaultBranch(ctx)
		return t, err
	}
	return t, nil
}

type pull struct {
	issue
	Head   pullSide `json:"head"`
	Base   pullSide `json:"base"`
	Draft  bool     `json:"draft"`
	NodeID string   `json:"node_id"`
	Opened stamp    `json:"created_at"`
	Ended  stamp    `json:"closed_at"`
}

type pullSide struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo struct {
		FullName string `json:"full_name"`
	} `json:"repo"`
}

func (p *pull) read() trigger.Issue {
	read := p.issue.read()
	read.IsPull = true
	return read
}

func (p *pull) pull() Pull {
	return Pull{
		Pull: trigger.Pull{
			Number:   p.Number,
			Author:   p.User.name(),
			HeadRef:  p.Head.Ref,
			HeadRepo: p.Head.Repo.FullName,
			HeadSHA:  p.Head.SHA,
			BaseRef:  p.Base.Ref,
			Draft:    p.Draft,
			Ours:     strings.HasPrefix(p.Body, trigger.PullMarker),
		},
		URL:     p.URL,
		Title:   p.Title,
		Body:    p.Body,
		BaseSHA: p.Base.SHA,
		Open:    p.State == "open",
		Merged:  p.merged(),
		Opened:  p.Opened.Time,
		Ended:   p.Ended.Time,
		NodeID:  p.NodeID,
	}
}

type review struct {
	ID          int64  `json:"id"`
	State       string `json:"state"`
	Body        string `json:"body"`
	HTML        string `json:"body_html"` // if it was asked for
	User        user   `json:"user"`
	SubmittedAt stamp  `json:"submitted_at"`
	Standing    string `json:"author_association"`
}

func (r *review) read() trigger.Review {
	if r == nil {
		return trigger.Review{}
	}
	return trigger.Review{
		ID: r.ID, State: strings.ToLower(r.State), Body: r.Body,
		Ours: strings.Contains(r.Body, trigger.Marker),
	}
}

type reviewComment struct {
	Review  int64  `json:"pull_request_review_id"`
	ReplyTo int64  `json:"in_reply_to_id"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Was     int    `json:"original_line"` // where the line is gone by now
	Hunk    string `json:"diff_hunk"`
}

// maxHunk is how much of a diff above a remark is read; its end is the line.
const maxHunk = 4000

func (r reviewComment) thread(id int64) trigger.Thread {
	if r.Path == "" {
		return trigger.Thread{}
	}
	path, _ := clean.Plain(r.Path, maxTitle)
	return trigger.Thread{
		ID:   cmp.Or(r.ReplyTo, id),
		Path: path,
		Line: cmp.Or(r.Line, r.Was),
		Hunk: code(r.Hunk, maxHunk),
	}
}

func (c *Client) readIssue(ctx context.Context, number int) (issue, error) {
	return request[issue](ctx, c, operation{
		action: fmt.Sprintf("read issue #%d", number), permission: issuesRead,
		path: fmt.Sprintf("issues/%d", number), rendered: true,
	})
}

func (c *Client) readPull(ctx context.Context, number int) (pull, error) {
	return request[pull](ctx, c, operation{
		action: fmt.Sprintf("read pull request #%d", number), permission: pullsRead,
		path: fmt.Sprintf("pulls/%d", number),
	})
}

package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// Target is what a reaction is put on: a comment where one is named, else the
// issue.
type Target struct {
	Issue    int
	Comment  int64
	InThread bool // the comment is one on a line of a pull request
}

// The reactions that say how far a request has come.
const (
	Eyes     = "eyes"     // seen
	Rocket   = "rocket"   // done
	Confused = "confused" // no
)

const issuesWrite = "issues: write"

// React puts a reaction on target. GitHub keeps one of a kind for each user,
// so doing it again changes nothing.
func (c *Client) React(ctx context.Context, target Target, content string) error {
	a := act{what: fmt.Sprintf("react with %s on #%d", content, target.Issue), needs: issuesWrite}
	return do(ctx, c, a, func(ctx context.Context) error {
		switch {
		case target.Comment != 0 && target.InThread:
			_, _, err := c.api.Reactions.CreatePullRequestCommentReaction(ctx, c.Owner, c.Repo, target.Comment, content)
			return err
		case target.Comment != 0:
			_, _, err := c.api.Reactions.CreateIssueCommentReaction(ctx, c.Owner, c.Repo, target.Comment, content)
			return err
		}
		_, _, err := c.api.Reactions.CreateIssueReaction(ctx, c.Owner, c.Repo, target.Issue, content)
		return err
	})
}

// RemoveLabel takes label off the issue; it is fine if somebody else has.
func (c *Client) RemoveLabel(ctx context.Context, issue int, label string) error {
	a := act{what: fmt.Sprintf("take the label %q off #%d", label, issue), needs: issuesWrite}
	err := do(ctx, c, a, func(ctx context.Context) error {
		_, err := c.api.Issues.RemoveLabelForIssue(ctx, c.Owner, c.Repo, issue, url.PathEscape(label))
		return err
	})
	if errors.Is(err, NotFound) {
		return nil
	}
	return err
}

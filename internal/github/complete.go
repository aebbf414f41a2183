package github

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/trigger"
)

const (
	issuesRead = "issues: read"
	pullsRead  = "pull-requests: read"
)

// Complete is t with what its event does not tell: the issue that the workflow
// names, the pull request that a comment stands under, the default branch.
// The text of an issue that an event brought along stays as it was then.
func (c *Client) Complete(ctx context.Context, t trigger.Trigger) (trigger.Trigger, error) {
	if t.Issue.Number == 0 && t.Given.Issue > 0 {
		found, err := one[issue](ctx, c, act{what: fmt.Sprintf("read issue #%d", t.Given.Issue), needs: issuesRead}, fmt.Sprintf("issues/%d", t.Given.Issue))
		if err != nil {
			return t, err
		}
		if found.Number == 0 {
			return t, errEmpty
		}
		var wash laundry
		t.Issue = found.read(&wash)
		t.Removed = wash.removed.String()
	}
	if t.Issue.IsPull && t.Pull.Number == 0 {
		number := t.Issue.Number
		found, err := one[pull](ctx, c, act{what: fmt.Sprintf("read pull request #%d", number), needs: pullsRead}, fmt.Sprintf("pulls/%d", number))
		if err != nil {
			return t, err
		}
		t.Pull = found.pull()
	}
	if t.Repo.DefaultBranch == "" {
		found, err := one[struct {
			DefaultBranch string `json:"default_branch"`
		}](ctx, c, act{what: "ask for the default branch", needs: "metadata: read"}, "")
		if err != nil {
			return t, err
		}
		t.Repo.DefaultBranch = found.DefaultBranch
	}
	return t, nil
}

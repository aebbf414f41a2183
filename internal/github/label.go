package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	gh "github.com/google/go-github/v60/github"
)

// AddLabels puts labels on an issue or a pull request, which makes those that
// the repository has not, and gives all that are there then.
func (c *Client) AddLabels(ctx context.Context, number int, labels ...string) ([]string, error) {
	a := act{what: fmt.Sprintf("label #%d", number), needs: issuesWrite}
	there, err := ask(ctx, c, a, func(ctx context.Context) (there []named, err error) {
		// Not go-github's own call: it sends a bare list, which is not what GitHub documents.
		body := struct {
			Labels []string `json:"labels"`
		}{labels}
		req, err := c.api.NewRequest(http.MethodPost, fmt.Sprintf("repos/%s/%s/issues/%d/labels", c.Owner, c.Repo, number), body)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		_, err = c.api.Do(ctx, req, &there)
		return there, err
	})
	var names []string
	for _, label := range there {
		names = append(names, label.Name)
	}
	return names, err
}

// AskReviewers asks people, and teams written as owner/team, to review a pull
// request. GitHub asks nobody where one of them cannot be, who opened it for
// instance: then each is asked alone.
func (c *Client) AskReviewers(ctx context.Context, number int, reviewers ...string) error {
	err := c.askReviewers(ctx, number, reviewers)
	if len(reviewers) < 2 || !errors.Is(err, Refused) {
		return err
	}
	var all []error
	for _, name := range reviewers {
		all = append(all, c.askReviewers(ctx, number, []string{name}))
	}
	return errors.Join(all...)
}

func (c *Client) askReviewers(ctx context.Context, number int, reviewers []string) error {
	var asked gh.ReviewersRequest
	for _, name := range reviewers {
		if _, team, is := strings.Cut(name, "/"); is {
			asked.TeamReviewers = append(asked.TeamReviewers, team)
			continue
		}
		asked.Reviewers = append(asked.Reviewers, strings.TrimPrefix(name, "@"))
	}
	a := act{what: fmt.Sprintf("ask %s for a review of #%d", strings.Join(reviewers, ", "), number), needs: pullsWrite}
	return do(ctx, c, a, func(ctx context.Context) error {
		_, _, err := c.api.PullRequests.RequestReviewers(ctx, c.Owner, c.Repo, number, asked)
		return err
	})
}

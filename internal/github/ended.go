package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// PullEvent is a push to a pull request, or its end.
type PullEvent struct {
	Action string // synchronize or closed
	Pull   Pull
	By     string // who did it
}

// ReadPullEvent reads the payload of pull_request.
func ReadPullEvent(body []byte) (PullEvent, error) {
	p, err := readPayload(body)
	if err == nil && p.Pull == nil {
		err = errors.New("it names no pull request")
	}
	if err != nil {
		return PullEvent{}, err
	}
	return PullEvent{Action: p.Action, Pull: p.Pull.pull(), By: p.Sender.name()}, nil
}

// PeopleCommitted reports whether a pull request has a commit that is not ralph's, by its email
// address. Commits that GitHub made again in our login's name to sign them are ralph's.
func (c *Client) PeopleCommitted(ctx context.Context, number int, email string) (bool, error) {
	type made struct {
		Commit struct {
			Author struct {
				Email string `json:"email"`
			} `json:"author"`
		} `json:"commit"`
		Author user `json:"author"`
	}
	a := operation{action: fmt.Sprintf("read the commits of #%d", number), permission: pullsRead}
	all, err := list[made](ctx, c, a, fmt.Sprintf("pulls/%d/commits", number), commentPages)
	if err != nil {
		return false, err
	}
	for _, one := range all {
		if strings.EqualFold(one.Commit.Author.Email, email) {
			continue
		}
		ours, err := c.Wrote(ctx, one.Author.name())
		if err != nil || !ours {
			return err == nil, err
		}
	}
	return false, nil
}

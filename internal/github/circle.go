package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/trigger"
)

// circle are the people who have a say. Each is asked about once, and not too
// many are: a hundred strangers under an issue must not cost a hundred calls.
type circle struct {
	client *Client
	rules  trigger.Rules
	known  map[string]bool
	left   int // of calls
}

// maxAsked is how many calls it may cost to learn who has a say.
const maxAsked = 20

func (c *Client) circle(rules trigger.Rules, asker trigger.Sender) *circle {
	return &circle{client: c, rules: rules, known: map[string]bool{strings.ToLower(asker.Login): true}, left: maxAsked}
}

// has tells whether who has a say: may write here, or is named.
func (c *circle) has(ctx context.Context, who trigger.Sender) (bool, error) {
	login := strings.ToLower(who.Login)
	switch has, known := c.known[login]; {
	case login == "":
		return false, nil
	case known:
		return has, nil
	case c.rules.Vouches(who):
		return true, nil
	case c.left == 0 || who.IsBot:
		return false, nil
	}
	c.left--
	word, err := c.client.Permission(ctx, login)
	if err != nil {
		return false, err
	}
	c.known[login] = trigger.Permission(word).MayRun()
	return c.known[login], nil
}

// thumb is a reaction.
type thumb struct {
	User user  `json:"user"`
	At   stamp `json:"created_at"`
}

// vouched tells whether somebody who has a say let h in with a 👍.
func (c *circle) vouched(ctx context.Context, ear trigger.Ear, h trigger.Heard) (bool, error) {
	path := "issues/comments"
	if h.Thread.ID != 0 {
		path = "pulls/comments"
	}
	if h.Thumbs == 0 || c.left == 0 {
		return false, nil
	}
	c.left--
	a := act{what: fmt.Sprintf("read the reactions to comment %d", h.ID), needs: issuesRead}
	thumbs, err := list[thumb](ctx, c.client, a, fmt.Sprintf("%s/%d/reactions?content=%%2B1", path, h.ID), 1)
	if err != nil {
		return false, err
	}
	for _, t := range thumbs {
		if !ear.Approves(h, t.At.Time) {
			continue
		}
		if has, err := c.has(ctx, t.User.sender()); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

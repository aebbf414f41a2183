package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/trigger"
)

// How much of what people say is read: the newest of it.
const (
	heardPages = 10
	maxSaid    = 8_000  // characters of one
	maxAll     = 60_000 // and of all
)

// Context is what people who have a say said of what t is about, before t
// happened. Everybody else is counted.
func (c *Client) Context(ctx context.Context, t trigger.Trigger, rules trigger.Rules) (trigger.Found, error) {
	all, err := c.hear(ctx, t)
	if err != nil {
		return trigger.Found{}, err
	}
	ear := trigger.Ear{Until: t.At, Rules: rules, Not: t.Comment.ID, Review: t.Review.ID}
	people := c.circle(rules, t.Asker())
	found, room := trigger.Found{Lots: trigger.Lots{}}, maxAll
	for _, h := range slices.Backward(all) {
		lot, err := people.lot(ctx, ear, h)
		if err != nil {
			return trigger.Found{}, err
		}
		if size := len(h.Text) + len(h.Thread.Hunk); lot == trigger.Taken {
			if room -= size; room < 0 {
				lot = trigger.Surplus
			}
		}
		if found.Lots[lot]++; lot == trigger.Taken {
			found.Said = append(found.Said, h)
		}
	}
	slices.Reverse(found.Said)
	return found, nil
}

// lot is what comes of h, now that people can be asked about.
func (c *circle) lot(ctx context.Context, ear trigger.Ear, h trigger.Heard) (trigger.Lot, error) {
	lot := ear.Of(h)
	if lot != trigger.Taken {
		return lot, nil
	}
	has, err := c.has(ctx, h.By)
	if err == nil && !has {
		has, err = c.vouched(ctx, ear, h)
	}
	if err != nil || has {
		return lot, err
	}
	return trigger.Stranger, nil
}

// hear is all that was said, the oldest first.
func (c *Client) hear(ctx context.Context, t trigger.Trigger) ([]trigger.Heard, error) {
	number := t.Issue.Number
	if number == 0 {
		return nil, nil
	}
	a := act{what: fmt.Sprintf("read what was said on #%d", number), needs: issuesRead}
	said, err := list[comment](ctx, c, a, fmt.Sprintf("issues/%d/comments", number), heardPages)
	if err != nil || !t.OnPull() {
		return heard(said), err
	}
	a.needs = pullsRead
	remarks, err := list[comment](ctx, c, a, fmt.Sprintf("pulls/%d/comments", number), heardPages)
	if err != nil {
		return nil, err
	}
	reviews, err := list[review](ctx, c, a, fmt.Sprintf("pulls/%d/reviews", number), heardPages)
	for _, r := range reviews {
		if r.ID != t.Review.ID { // which is in the task
			said = append(said, comment{ID: r.ID, Body: r.Body, User: r.User, URL: r.URL, CreatedAt: r.SubmittedAt, UpdatedAt: r.SubmittedAt})
		}
	}
	return heard(append(said, remarks...)), err
}

func heard(comments []comment) []trigger.Heard {
	var all []trigger.Heard
	for _, one := range comments {
		var wash laundry
		all = append(all, trigger.Heard{
			ID: one.ID, By: one.User.sender(), Ours: strings.Contains(one.Body, trigger.Marker),
			At: one.CreatedAt.Time, Edited: one.UpdatedAt.Time, Text: wash.clean(one.Body, maxSaid), URL: one.URL,
			Thread: one.thread(one.ID), Review: one.Review, Thumbs: one.Reactions.Thumbs,
		})
	}
	slices.SortStableFunc(all, func(a, b trigger.Heard) int { return a.At.Compare(b.At) })
	return all
}

package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/plan"
	"github.com/ralph-loop/ralph/internal/trigger"
)

const (
	heardPages = 10
	maxSaid    = 8_000  // characters of one
	maxAll     = 60_000 // and of all
)

// Context is what people with a say said before t happened. Others are counted.
func (c *Client) Context(ctx context.Context, t trigger.Trigger, rules trigger.Rules) (trigger.TaskContext, error) {
	all, err := c.hear(ctx, t)
	if err != nil {
		return trigger.TaskContext{}, err
	}
	ear := trigger.ContextFilter{Until: t.At, Rules: rules, TriggerID: t.Comment.ID, TriggerReview: t.Review.ID}
	people := &circle{client: c, rules: rules, known: map[string]bool{strings.ToLower(t.Asker().Login): true}, left: maxAsked}
	found, room := trigger.TaskContext{Counts: trigger.InclusionCounts{}}, maxAll
	for _, h := range slices.Backward(all) {
		lot, err := people.lot(ctx, ear, &h)
		if err != nil {
			return trigger.TaskContext{}, err
		}
		if size := len(h.Text) + len(h.Thread.Hunk); lot == trigger.Included {
			if room -= size; room < 0 {
				lot = trigger.OverLimit
			}
		}
		if found.Counts[lot]++; lot == trigger.Included {
			found.Comments = append(found.Comments, h)
		}
	}
	slices.Reverse(found.Comments)
	return found, nil
}

// lot decides about h. A 👍 lets words in, but no suggestion becomes a commit by it.
func (c *circle) lot(ctx context.Context, ear trigger.ContextFilter, h *trigger.ContextComment) (trigger.Inclusion, error) {
	lot := ear.Classify(*h)
	if lot != trigger.Included {
		return lot, nil
	}
	has, err := c.has(ctx, h.Author)
	if err == nil && !has {
		h.Suggestion = plan.Suggestion{}
		has, err = c.vouched(ctx, ear, *h)
	}
	if err != nil || has {
		return lot, err
	}
	return trigger.NoPermission, nil
}

func (c *Client) hear(ctx context.Context, t trigger.Trigger) ([]trigger.ContextComment, error) {
	number := t.Issue.Number
	if number == 0 {
		return nil, nil
	}
	a := act{what: fmt.Sprintf("read what was said on #%d", number), needs: issuesRead}
	said, err := list[comment](ctx, c, a, fmt.Sprintf("issues/%d/comments", number), heardPages)
	if err != nil || !t.IsOnPull() {
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
			said = append(said, comment{ID: r.ID, Body: r.Body, User: r.User, CreatedAt: r.SubmittedAt, UpdatedAt: r.SubmittedAt})
		}
	}
	return heard(append(said, remarks...)), err
}

func heard(comments []comment) []trigger.ContextComment {
	var all []trigger.ContextComment
	for _, one := range comments {
		var wash laundry
		all = append(all, trigger.ContextComment{
			ID: one.ID, Author: one.User.sender(), Ours: strings.Contains(one.Body, trigger.Marker),
			At: one.CreatedAt.Time, Edited: one.UpdatedAt.Time, Text: wash.clean(one.Body, maxSaid),
			Thread: one.thread(one.ID), Review: one.Review, Thumbs: one.Reactions.Thumbs,
			Suggestion: one.suggestion(),
		})
	}
	slices.SortStableFunc(all, func(a, b trigger.ContextComment) int { return a.At.Compare(b.At) })
	return all
}

// circle are the people with a say. Questions about them are limited: strangers must cost little.
type circle struct {
	client *Client
	rules  trigger.Rules
	known  map[string]bool
	left   int // of calls
}

// maxAsked limits the calls that find out who has a say.
const maxAsked = 20

// has reports whether somebody may write here, or is named.
func (c *circle) has(ctx context.Context, who trigger.Sender) (bool, error) {
	login := strings.ToLower(who.Login)
	switch has, known := c.known[login]; {
	case login == "":
		return false, nil
	case known:
		return has, nil
	case c.rules.IsAllowed(who):
		return true, nil
	case c.left == 0 || who.IsBot:
		return false, nil
	}
	c.left--
	word, err := c.client.Permission(ctx, login)
	if err != nil {
		return false, err
	}
	c.known[login] = trigger.Permission(word).CanRun()
	return c.known[login], nil
}

type thumb struct {
	User user  `json:"user"`
	At   stamp `json:"created_at"`
}

// vouched reports whether a 👍 of somebody with a say lets h in.
func (c *circle) vouched(ctx context.Context, ear trigger.ContextFilter, h trigger.ContextComment) (bool, error) {
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
		if !ear.IsApprovedAt(h, t.At.Time) {
			continue
		}
		if has, err := c.has(ctx, t.User.sender()); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// logins are GitHub's: they become part of a URL, and go-github does not escape them.
var logins = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$`)

// Permission is what login may do in the repository: admin, write, read or
// none. The API folds maintain into write, triage into read, and a custom role
// into the one it is based on, which is what we want to know of it.
func (c *Client) Permission(ctx context.Context, login string) (string, error) {
	const none = "none"
	if !logins.MatchString(login) {
		return none, nil
	}
	a := act{what: "ask for the permission of " + login, needs: "metadata: read"}
	found, err := one[level](ctx, c, a, "collaborators/"+url.PathEscape(login)+"/permission")
	if errors.Is(err, NotFound) {
		return none, nil
	}
	return found.Permission, err
}

type level struct {
	Permission string `json:"permission"`
}

func (l level) filled() bool { return l.Permission != "" }

type identity struct {
	mu    sync.Mutex
	login string
}

// me is our login. REST tells it to people; GraphQL to Apps and jobs, too.
func (c *Client) me(ctx context.Context) (string, error) {
	c.self.mu.Lock()
	defer c.self.mu.Unlock()
	if c.self.login != "" {
		return c.self.login, nil
	}
	type viewer struct {
		Viewer struct {
			Login string `json:"login"`
		} `json:"viewer"`
	}
	answer, err := ask(ctx, c, act{what: "ask for the login of the token"}, func(ctx context.Context) (viewer, error) {
		return query[viewer](ctx, c, `query { viewer { login } }`, nil)
	})
	if c.self.login = answer.Viewer.Login; err == nil && c.self.login == "" {
		err = errEmpty
	}
	if err != nil && ctx.Err() == nil && strings.HasPrefix(c.held.latest(), jobToken) {
		return jobLogin, nil
	}
	return c.self.login, err
}

// A job's own token begins so, and writes under this login, also while GraphQL is away.
const (
	jobToken = "ghs_"
	jobLogin = "github-actions[bot]"
)

// Wrote tells whether our token's login is that of the author.
func (c *Client) Wrote(ctx context.Context, author string) (bool, error) {
	login, err := c.me(ctx)
	return err == nil && strings.EqualFold(author, login), err
}

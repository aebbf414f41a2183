package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const (
	commentPages = 10
	maxComment   = 8_000  // characters of one
	maxAll       = 60_000 // and of all
)

// Context returns the comments of people who may start work, from before t happened. Others are counted.
func (c *Client) Context(ctx context.Context, t trigger.Trigger, rules trigger.Rules) (trigger.TaskContext, error) {
	all, err := c.readComments(ctx, t, rules)
	if err != nil {
		return trigger.TaskContext{}, err
	}
	filter := trigger.ContextFilter{Until: t.At, Rules: rules, TriggerID: t.Comment.ID, TriggerReview: t.Review.ID}
	people := &trustedPeople{
		client:  c,
		rules:   rules,
		answers: map[string]bool{strings.ToLower(t.Asker().Login): true},
	}
	found := trigger.TaskContext{Counts: trigger.InclusionCounts{}}
	room := maxAll
	for _, h := range slices.Backward(all) {
		inclusion := filter.Classify(h)
		if inclusion == trigger.Included {
			inclusion, err = people.inclusion(ctx, h)
			if err != nil {
				return trigger.TaskContext{}, err
			}
		}
		if inclusion == trigger.Included {
			room -= len(h.Text) + len(h.Thread.Hunk)
			if room < 0 {
				inclusion = trigger.OverLimit
			}
		}
		found.Counts[inclusion]++
		if inclusion == trigger.Included {
			found.Comments = append(found.Comments, h)
		}
	}
	slices.Reverse(found.Comments)
	return found, nil
}

// membership are GitHub's words for authors with write permission. Members who hide their membership have other words.
var membership = []string{"OWNER", "MEMBER", "COLLABORATOR"}

func (c *Client) readComments(
	ctx context.Context,
	t trigger.Trigger,
	rules trigger.Rules,
) ([]trigger.ContextComment, error) {
	number := t.Issue.Number
	if number == 0 {
		return nil, nil
	}
	a := operation{action: fmt.Sprintf("read what was said on #%d", number), permission: issuesRead, rendered: true}
	var all []trigger.ContextComment
	read := func(path string) error { // texts can be long: a page is cut before the next is read
		a.path = fmt.Sprintf(path, number)
		return eachPage(ctx, c, a, commentPages, func(page []comment) bool {
			all = append(all, contextComments(page, rules)...)
			return true
		})
	}
	if err := read("issues/%d/comments"); err != nil {
		return nil, err
	}
	if t.IsOnPull() {
		a.permission = pullsRead
		reviews, err := c.readReviews(ctx, a, t)
		if err != nil {
			return nil, err
		}
		all = append(all, contextComments(reviews, rules)...)
		if err := read("pulls/%d/comments"); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b trigger.ContextComment) int { return a.At.Compare(b.At) })
	return all, nil
}

// readReviews returns the reviews but for the one that is in the task.
func (c *Client) readReviews(ctx context.Context, a operation, t trigger.Trigger) ([]comment, error) {
	reviews, err := list[review](ctx, c, a, fmt.Sprintf("pulls/%d/reviews", t.Issue.Number), commentPages)
	var comments []comment
	for _, r := range reviews {
		if r.ID == t.Review.ID {
			continue
		}
		comments = append(comments, comment{
			ID:        r.ID,
			Body:      r.Body,
			HTML:      r.HTML,
			User:      r.User,
			CreatedAt: r.SubmittedAt,
			UpdatedAt: r.SubmittedAt,
			Standing:  r.Standing,
		})
	}
	return comments, err
}

func contextComments(comments []comment, rules trigger.Rules) []trigger.ContextComment {
	var all []trigger.ContextComment
	for _, one := range comments {
		page := clean.FromHTML(one.HTML, maxComment)
		all = append(all, trigger.ContextComment{
			ID:      one.ID,
			Author:  one.User.sender(),
			Ours:    strings.Contains(one.Body, trigger.Marker),
			Command: rules.IsCommand(one.Body),
			At:      one.CreatedAt.Time,
			Edited:  one.UpdatedAt.Time,
			Text:    page.Text,
			Thread:  one.thread(one.ID),
			Review:  one.Review,
			Member:  slices.Contains(membership, one.Standing),
		})
	}
	return all
}

// trustedPeople may write to the repository.
type trustedPeople struct {
	client  *Client
	rules   trigger.Rules
	answers map[string]bool
	asked   int // about how many whom GitHub names no members
}

// maxAsked limits the questions about strangers, who can be as many as they like.
const maxAsked = 20

// inclusion decides whether a comment that the filter passed is included.
func (p *trustedPeople) inclusion(ctx context.Context, h trigger.ContextComment) (trigger.Inclusion, error) {
	login := strings.ToLower(h.Author.Login)
	if login == "" {
		return trigger.NoPermission, nil
	}
	if p.rules.IsAllowed(h.Author) {
		return trigger.Included, nil
	}
	canRun, known := p.answers[login]
	if !known {
		if !h.Member && p.asked == maxAsked {
			return trigger.Unchecked, nil
		}
		if !h.Member {
			p.asked++
		}
		permission, err := p.client.Permission(ctx, login)
		if err != nil {
			return "", err
		}
		canRun = permission.CanRun()
		p.answers[login] = canRun
	}
	if !canRun {
		return trigger.NoPermission, nil
	}
	return trigger.Included, nil
}

// logins are GitHub's: they become part of a URL, and go-github does not escape them.
var logins = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$`)

// Permission returns what login may do in the repository: admin, write, read or none. The API
// reports maintain as write, triage as read, and a custom role as the one that it is based on.
func (c *Client) Permission(ctx context.Context, login string) (trigger.Permission, error) {
	if !logins.MatchString(login) {
		return trigger.None, nil
	}
	found, err := request[permission](ctx, c, operation{
		action: "ask for the permission of " + login, permission: "metadata: read",
		path: "collaborators/" + url.PathEscape(login) + "/permission",
	})
	if errors.Is(err, NotFound) {
		return trigger.None, nil
	}
	return found.Permission, err
}

type permission struct {
	Permission trigger.Permission `json:"permission"`
}

// login is our login. REST has it for people, GraphQL for Apps and jobs, too.
func (c *Client) login(ctx context.Context) (string, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	if c.ownLogin != "" {
		return c.ownLogin, nil
	}
	a := operation{action: "ask for the login of the token", body: ask{Query: `query { viewer { login } }`}}
	viewer, err := graph[user](ctx, c, a)
	c.ownLogin = viewer.Login
	if err != nil && ctx.Err() == nil && strings.HasPrefix(c.credential.latest(), jobToken) {
		return jobLogin, nil
	}
	return c.ownLogin, err
}

// A job's own token begins so, and writes under this login, also while GraphQL is away.
const (
	jobToken = "ghs_"
	jobLogin = "github-actions[bot]"
)

// Wrote reports whether our token's login is that of the author.
func (c *Client) Wrote(ctx context.Context, author string) (bool, error) {
	login, err := c.login(ctx)
	if err != nil {
		return false, err
	}
	return strings.EqualFold(author, login), nil
}

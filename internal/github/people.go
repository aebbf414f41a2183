package github

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"

	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// logins are what GitHub allows for people and bots. They come from outside
// and become part of a URL; go-github does not escape them.
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
	level, err := ask(ctx, c, a, func(ctx context.Context) (*gh.RepositoryPermissionLevel, error) {
		level, _, err := c.api.Repositories.GetPermissionLevel(ctx, c.Owner, c.Repo, url.PathEscape(login))
		if err == nil && level.GetPermission() == "" {
			err = errEmpty
		}
		return level, err
	})
	if errors.Is(err, NotFound) {
		return none, nil
	}
	if err != nil {
		return "", err
	}
	return level.GetPermission(), nil
}

// identity is the login we write under, asked for once.
type identity struct {
	ask func(context.Context) (string, error)

	mu    sync.Mutex
	known bool
	login string
}

// me is our login, or nothing where GitHub does not let us know.
func (c *Client) me(ctx context.Context) (string, error) {
	c.self.mu.Lock()
	defer c.self.mu.Unlock()
	if c.self.known {
		return c.self.login, nil
	}
	login, err := ask(ctx, c, act{what: "ask who we are"}, c.self.ask)
	if err != nil && !errors.Is(err, Forbidden) && !errors.Is(err, NotFound) {
		return "", err
	}
	c.self.login, c.self.known = login, true
	return login, nil
}

// tokenLogin works for a person's token. An installation's, and a job's is
// one, is refused with 403.
func (c *Client) tokenLogin(ctx context.Context) (string, error) {
	user, _, err := c.api.Users.Get(ctx, "")
	if err == nil && user.GetLogin() == "" {
		err = errEmpty
	}
	return user.GetLogin(), err
}

// Wrote tells whether something of that author may be our own.
func (c *Client) Wrote(ctx context.Context, author string, isBot bool) (bool, error) {
	login, err := c.me(ctx)
	return err == nil && wrote(login, author, isBot), err
}

// wrote goes by our login. Where nobody tells us that, any bot may be us.
func wrote(login, author string, isBot bool) bool {
	if login == "" {
		return isBot
	}
	return strings.EqualFold(author, login)
}

package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v60/github"
)

type operation struct {
	action        string // in words, for errors
	permission    string // the line under permissions: that it takes
	notRepeatable bool   // twice would leave two: not to be tried again when the answer was lost

	method string // empty: GET
	path   string // in the repository
	body   any

	rendered bool // the answer also has texts as HTML
}

// withRetry retries where that may help and does no harm. Its errors hold an *Error.
func withRetry[T any](ctx context.Context, c *Client, a operation, do func(context.Context) (T, error)) (T, error) {
	for try := 1; ; try++ {
		// http.Client's own timer would go on after an error, as go-github does not close what it has read.
		limited, cancel := context.WithTimeout(ctx, c.retry.Timeout)
		got, err := do(limited)
		cancel()
		if err == nil {
			return got, nil
		}
		trouble := errorOf(err)
		trouble.Message = c.credential.hide(trouble.Message)
		wait, again := c.retry.shouldRetry(a, try, trouble)
		if !again || ctx.Err() != nil {
			return *new(T), a.hint(c.tokenInput, trouble, err)
		}
		if err := sleep(ctx, wait); err != nil {
			return *new(T), fmt.Errorf("%s: %w", a.action, err)
		}
	}
}

// request makes a request, and reads the answer into a type with only the fields that are used:
// go-github's types reject an answer for one invalid date.
func request[T any](ctx context.Context, c *Client, a operation) (T, error) {
	return withRetry(ctx, c, a, func(ctx context.Context) (got T, err error) {
		if _, _, err := c.get(ctx, a, &got); err != nil {
			return got, err
		}
		if one, ok := any(got).(interface{ exists() bool }); ok && !one.exists() {
			return got, errEmpty
		}
		return got, nil
	})
}

func send(ctx context.Context, c *Client, a operation) error {
	_, err := request[any](ctx, c, a) // which may be a list
	return err
}

// shouldRetry: a call that ran into a limit was not done, so even a comment may be repeated.
func (p RetryPolicy) shouldRetry(a operation, try int, e *Error) (time.Duration, bool) {
	if try >= p.Tries {
		return 0, false
	}
	switch e.Kind {
	case RateLimited:
		return e.Wait, e.Wait > 0 && e.Wait <= p.MaxWait
	case Unavailable:
		return jitter(p.Delay << (try - 1)), !a.notRepeatable
	case NotFound, Forbidden, Unauthorized, Refused:
		return 0, false
	}
	return 0, false
}

// jitter varies d by half: jobs that failed together shall not return together.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d) //nolint:gosec // spreads load, keeps no secret
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// errEmpty is an empty success. GitHub sends none; a proxy without its upstream does.
var errEmpty = errors.New("the answer is empty")

func list[T any](ctx context.Context, c *Client, a operation, path string, pages int) (all []T, err error) {
	a.path = path
	err = eachPage(ctx, c, a, pages, func(page []T) bool {
		all = append(all, page...)
		return true
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func findFirst[T any](ctx context.Context, c *Client, a operation, fits func(T) bool) (found T, ok bool, err error) {
	err = eachPage(ctx, c, a, maxPages, func(page []T) bool {
		i := slices.IndexFunc(page, fits)
		if i < 0 {
			return true
		}
		found = page[i]
		ok = true
		return false
	})
	return found, ok, err
}

const maxPages = 100

// eachPage reads pages while more wants another. Beyond the limit it leaves out those between
// the first and the last ones: the newest come last.
func eachPage[P any](ctx context.Context, c *Client, a operation, pages int, more func(P) bool) error {
	sign := "?"
	if strings.Contains(a.path, "?") {
		sign = "&"
	}
	path := a.path
	for number := 1; number != 0 && pages > 0; pages-- {
		var next, last int
		a.path = fmt.Sprintf("%s%sper_page=100&page=%d", path, sign, number)
		page, err := withRetry(ctx, c, a, func(ctx context.Context) (page P, err error) {
			next, last, err = c.get(ctx, a, &page)
			return page, err
		})
		if err != nil || !more(page) {
			return err
		}
		number = next
		if next != 0 {
			number = max(next, last-pages+2)
		}
	}
	return nil
}

func (c *Client) get(ctx context.Context, a operation, into any) (next, last int, err error) {
	req, err := c.api.NewRequest(cmp.Or(a.method, http.MethodGet), c.url(a.path), a.body)
	if err != nil {
		return 0, 0, fmt.Errorf("write the request: %w", err)
	}
	if a.rendered {
		req.Header.Set("Accept", "application/vnd.github.full+json")
	}
	resp, err := c.do(ctx, req, into)
	if err != nil {
		return 0, 0, err
	}
	return resp.NextPage, resp.LastPage, nil
}

func (c *Client) url(path string) string {
	return strings.TrimSuffix(fmt.Sprintf("repos/%s/%s/%s", c.Owner, c.Repo, path), "/")
}

func (c *Client) send(ctx context.Context, method, url string, body, into any) (*gh.Response, error) {
	req, err := c.api.NewRequest(method, url, body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return c.do(ctx, req, into)
}

// do makes a request. That something was accepted and is done later is no error.
func (c *Client) do(ctx context.Context, req *http.Request, into any) (*gh.Response, error) {
	resp, err := c.api.Do(ctx, req, into)
	if errors.As(err, new(*gh.AcceptedError)) {
		err = nil
	}
	return resp, err
}

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

type act struct {
	what  string // in words, for errors
	needs string // the line under permissions: that it takes
	once  bool   // twice would leave two: not to be tried again when the answer was lost

	method string // empty: GET
	path   string // in the repository
	body   any
}

// ask retries where that may help and does no harm. Its errors hold an *Error.
func ask[T any](ctx context.Context, c *Client, a act, do func(context.Context) (T, error)) (T, error) {
	for try := 1; ; try++ {
		got, err := bounded(ctx, do)
		if err == nil {
			return got, nil
		}
		trouble := understand(err)
		trouble.Message = c.held.hide(trouble.Message)
		wait, again := c.pace.again(a, try, trouble)
		if !again || ctx.Err() != nil {
			return *new(T), a.remedy(c.input, trouble, err)
		}
		if err := sleep(ctx, wait); err != nil {
			return *new(T), fmt.Errorf("%s: %w", a.what, err)
		}
	}
}

// overall bounds one try with all it waits for. The context does it and not
// http.Client, whose timer goes on after an error, as go-github does not close
// what it has read.
const overall = 2 * time.Minute

func bounded[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, overall)
	defer cancel()
	return do(ctx)
}

func do(ctx context.Context, c *Client, a act, call func(context.Context) error) error {
	_, err := ask(ctx, c, a, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// call makes the request of an act. Its answer is read into a type of our own, with
// the fields that are used: go-github's types refuse all of an answer for one date
// that is none.
func call[T any](ctx context.Context, c *Client, a act) (T, error) {
	return ask(ctx, c, a, func(ctx context.Context) (got T, err error) {
		_, err = c.get(ctx, a, &got)
		if f, is := any(got).(interface{ filled() bool }); is && err == nil && !f.filled() {
			err = errEmpty
		}
		return got, err
	})
}

func tell(ctx context.Context, c *Client, a act) error {
	_, err := call[any](ctx, c, a) // which may be a list
	return err
}

// again: what ran into a limit was not done, so even a comment may be repeated.
func (p Pace) again(a act, try int, e *Error) (time.Duration, bool) {
	if try >= p.Tries {
		return 0, false
	}
	switch e.Kind {
	case RateLimited:
		return e.Wait, e.Wait > 0 && e.Wait <= p.MaxWait
	case Unavailable:
		return jitter(p.Delay << (try - 1)), !a.once
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
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// errEmpty is an empty success. GitHub sends none; a proxy without its upstream does.
var errEmpty = errors.New("the answer is empty")

func list[T any](ctx context.Context, c *Client, a act, path string, pages int) (all []T, err error) {
	a.path = path
	err = turn(ctx, c, a, pages, func(page []T) bool {
		all = append(all, page...)
		return true
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func seek[T any](ctx context.Context, c *Client, a act, fits func(T) bool) (found T, is bool, err error) {
	err = turn(ctx, c, a, maxPages, func(page []T) bool {
		at := slices.IndexFunc(page, fits)
		if is = at >= 0; is {
			found = page[at]
		}
		return !is
	})
	return found, is, err
}

const maxPages = 100

// turn reads pages while more wants another.
func turn[P any](ctx context.Context, c *Client, a act, pages int, more func(P) bool) error {
	sign := "?"
	if strings.Contains(a.path, "?") {
		sign = "&"
	}
	path := a.path
	for number := 1; number != 0 && pages > 0; pages-- {
		var next int
		a.path = fmt.Sprintf("%s%sper_page=100&page=%d", path, sign, number)
		page, err := ask(ctx, c, a, func(ctx context.Context) (page P, err error) {
			next, err = c.get(ctx, a, &page)
			return page, err
		})
		if err != nil || !more(page) {
			return err
		}
		number = next
	}
	return nil
}

func one[T any](ctx context.Context, c *Client, a act, path string) (T, error) {
	a.path = path
	return call[T](ctx, c, a)
}

func (c *Client) get(ctx context.Context, a act, into any) (next int, err error) {
	resp, err := c.send(ctx, cmp.Or(a.method, http.MethodGet), c.at(a.path), a.body, into)
	if err != nil {
		return 0, err
	}
	return resp.NextPage, nil
}

func (c *Client) at(path string) string {
	return strings.TrimSuffix(fmt.Sprintf("repos/%s/%s/%s", c.Owner, c.Repo, path), "/")
}

// send makes a request. That something was accepted and is done later is no error.
func (c *Client) send(ctx context.Context, method, url string, body, into any) (*gh.Response, error) {
	req, err := c.api.NewRequest(method, url, body)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	resp, err := c.api.Do(ctx, req, into)
	if errors.As(err, new(*gh.AcceptedError)) {
		err = nil
	}
	return resp, err
}

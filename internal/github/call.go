package github

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// act is one thing we ask of GitHub.
type act struct {
	what  string // in words, for errors
	needs string // the line under permissions: that it takes
	once  bool   // twice would leave two: not to be tried again when the answer was lost
}

// ask does what a is, and does it again where that may help and does no harm.
// Its errors hold an *Error, and a fault where the remedy is known.
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

// do is ask for calls that answer nothing we want.
func do(ctx context.Context, c *Client, a act, call func(context.Context) error) error {
	_, err := ask(ctx, c, a, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// again tells whether to try once more, and after how long. What ran into a
// limit was not carried out, so even a comment may be tried again.
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

// jitter is d, more or less a half: jobs that failed together shall not come
// back together.
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

// errEmpty is an answer that says yes and nothing else. GitHub sends none; a
// proxy that lost its upstream does.
var errEmpty = errors.New("the answer is empty")

package github_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestHowOftenACallIsTried(t *testing.T) {
	page := githubtest.BadGateway()
	cut := githubtest.Fault{CutAfter: 20}
	read := func(ctx context.Context, c *github.Client) error { _, err := c.Ask(ctx); return err }
	edit := func(ctx context.Context, c *github.Client) error {
		_, err := c.EditComment(ctx, 1, 4711, "x")
		return err
	}
	write := func(ctx context.Context, c *github.Client) error { _, err := c.CreateComment(ctx, 1, "x"); return err }
	open := func(ctx context.Context, c *github.Client) error {
		_, err := c.OpenPull(ctx, github.NewPull{Branch: "x", Base: "main"})
		return err
	}
	for name, c := range map[string]struct {
		fault githubtest.Fault
		times int
		do    func(context.Context, *github.Client) error
		sent  int
		kind  github.Kind
	}{
		"a page of HTML, twice":      {page, 2, read, 3, ""},
		"a page of HTML, for ever":   {page, -1, read, 3, github.Unavailable},
		"an answer that was cut":     {cut, 1, read, 2, ""},
		"HTML that says 200":         {githubtest.Fault{Status: 200, Body: "<html>log in"}, -1, read, 3, github.Unavailable},
		"a comment of nothing":       {githubtest.Fault{Status: 201, Body: "{}"}, -1, write, 1, github.Unavailable},
		"a pull request of nothing":  {githubtest.Fault{Status: 201, Body: "null"}, -1, open, 3, github.Unavailable},
		"an edit, which harms not":   {githubtest.ServerError(500), 1, edit, 2, github.NotFound}, // of a comment that is gone
		"a new comment, which may":   {githubtest.ServerError(500), 1, write, 1, github.Unavailable},
		"what makes no sense":        {githubtest.ServerError(422), 1, read, 1, github.Refused},
		"what is not there":          {githubtest.ServerError(404), 1, read, 1, github.NotFound},
		"a limit of unknown length":  {githubtest.ServerError(429), 1, read, 1, github.RateLimited},
		"a limit we cannot wait for": {githubtest.SecondaryLimit(time.Hour), 1, write, 1, github.RateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			server := stand(t, nil)
			c.fault.Times = c.times
			server.Inject(c.fault)
			err := c.do(t.Context(), connect(t, access(server)))
			if (c.kind == "") != (err == nil) || (err != nil && !is(err, c.kind)) {
				t.Errorf("got %v, want %q", err, c.kind)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n") {
				t.Errorf("the error has lines: %q", err)
			}
			if n := len(server.Requests()); n != c.sent {
				t.Errorf("%d requests, want %d", n, c.sent)
			}
		})
	}
}

// inMemory runs do against answers that need no network, so that the clock is
// the bubble's and waiting takes no time.
func inMemory(t *testing.T, answers []canned, do func(*github.Client)) (bodies []string) {
	t.Helper()
	do(connect(t, github.Access{
		Owner: "acme", Repo: "shop", Token: "secret",
		HTTP: hand(func(req *http.Request) canned {
			body := ""
			if req.Body != nil {
				text, err := io.ReadAll(req.Body)
				if err != nil {
					t.Error(err)
				}
				body = string(text)
			}
			bodies = append(bodies, strings.TrimSpace(body))
			return answers[min(len(bodies), len(answers))-1]
		}),
	}))
	return bodies
}

func secondary(header ...string) canned {
	return reply(http.StatusForbidden, `{"message":"You have exceeded a secondary rate limit."}`, header...)
}

// primary returns a limit that lasts a while longer by GitHub's own clock, which
// need not be ours.
func primary(status int, skew, left time.Duration) canned {
	now := time.Now().Add(skew).UTC()
	return reply(status, `{"message":"API rate limit exceeded for mia."}`,
		"X-RateLimit-Remaining", "0", "X-RateLimit-Limit", "60",
		"X-RateLimit-Reset", strconv.FormatInt(now.Add(left).Unix(), 10), "Date", now.Format(http.TimeFormat))
}

func fine() canned { return reply(http.StatusOK, `{"id":5,"default_branch":"main"}`) }

// Not even a comment is written twice: what met the limit was not done.
func TestLimitsAreWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		limit func() canned
		took  time.Duration // until it was done; 0: it is not waited for
		wait  time.Duration // that the error names
	}{
		"secondary":              {limit: func() canned { return secondary("Retry-After", "20") }, took: 20 * time.Second},
		"primary":                {limit: func() canned { return primary(403, 0, 30*time.Second) }, took: 31 * time.Second},
		"by GitHub's own time":   {limit: func() canned { return primary(429, -time.Hour, 30*time.Second) }, took: 31 * time.Second},
		"a long secondary one":   {limit: func() canned { return secondary("Retry-After", "600") }, wait: 10 * time.Minute},
		"a long primary one":     {limit: func() canned { return primary(403, 0, time.Hour) }, wait: time.Hour + time.Second},
		"one that does not say":  {limit: func() canned { return secondary() }},
		"one that is over, ever": {limit: func() canned { return secondary("X-RateLimit-Reset", "1") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var err error
				bodies := inMemory(t, []canned{c.limit(), fine()}, func(client *github.Client) {
					_, err = client.CreateComment(t.Context(), 1, "hi")
				})
				if took := time.Since(start); took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				want := []string{`{"body":"hi"}`, `{"body":"hi"}`}
				if c.took == 0 {
					want = want[:1]
					e, ok := errors.AsType[*github.Error](err)
					if !ok || e.Kind != github.RateLimited || e.Wait != c.wait || fault.Hint(err) == "" {
						t.Errorf("got %v (%+v), want a limit of %s and a hint", err, e, c.wait)
					}
				} else if err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want, bodies); diff != "" {
					t.Errorf("bodies (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// go-github refuses further calls by itself while a secondary limit lasts.
func TestALimitHoldsForLaterCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := reply(http.StatusForbidden, `{"message":"You have exceeded a secondary rate limit.",
			"documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`, "Retry-After", "90")
		bodies := inMemory(t, []canned{limit, fine()}, func(client *github.Client) {
			_, _ = client.Ask(t.Context())
			time.Sleep(40 * time.Second) // of the bubble
			if _, err := client.Ask(t.Context()); err != nil {
				t.Error(err)
			}
		})
		if len(bodies) != 2 {
			t.Errorf("%d requests, want 2", len(bodies))
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		inMemory(t, []canned{secondary("Retry-After", "20")}, func(client *github.Client) {
			if _, err := client.Ask(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the deadline", err)
			}
		})
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("it took %s, want 100ms", took)
		}
	})
}

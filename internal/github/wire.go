package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	limits "github.com/gofri/go-github-ratelimit/v2/github_ratelimit/github_secondary_ratelimit"
)

const userAgent = "ralph"

// limitedTransport is the way a request takes once it has its token: through GitHub's
// secondary limits, which are waited for here. The primary one is waited for
// in ask, which has the answer at hand.
func limitedTransport(given http.RoundTripper, pace RetryPolicy) http.RoundTripper {
	if given == nil {
		given = Out(pace)
	}
	return limits.New(resendTransport{next: given},
		limits.WithSingleSleepLimit(pace.MaxWait, nil),
		limits.WithTotalSleepLimit(10*pace.MaxWait, nil))
}

// Out is a transport for many clients to share, with their connections.
func Out(pace RetryPolicy) http.RoundTripper {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	transport = transport.Clone()
	transport.ResponseHeaderTimeout = pace.Timeout
	return transport
}

// resendTransport is the last transport that a request goes through. The limiter above it sends a
// request again as it is: with its body read to the end, and for ever where
// the time to come again lies in the past. Here it gets a fresh body, and an
// end.
type resendTransport struct{ next http.RoundTripper }

const maxSends = 4

type sendCount struct{}

func (w resendTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	if count, ok := req.Context().Value(sendCount{}).(*int); ok {
		if *count++; *count > maxSends {
			return nil, &Error{Kind: RateLimited, Message: fmt.Sprintf("asked %d times to come again", maxSends)}
		}
	}
	if req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("read the request again: %w", err)
		}
		out.Body = body
	}
	out.Header.Set("User-Agent", userAgent)
	return w.next.RoundTrip(out)
}

type tokenTransport struct {
	credential *credential
	next       http.RoundTripper
}

func (b tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := b.credential.token(req.Context())
	if err != nil {
		return nil, err
	}
	out := req.Clone(context.WithValue(req.Context(), sendCount{}, new(int)))
	out.Header.Set("Authorization", "Bearer "+token)
	return b.next.RoundTrip(out)
}

// sameHostOnly refuses redirects to another host, which would get our token.
func sameHostOnly(next *http.Request, via []*http.Request) error {
	switch first := via[0].URL; {
	case next.URL.Host != first.Host || next.URL.Scheme != first.Scheme:
		return fmt.Errorf("redirected from %s to another host", first.Host)
	case len(via) > 5:
		return errors.New("redirected too often")
	}
	return nil
}

// credential remembers the current token, to keep it out of all output.
type credential struct {
	source func(context.Context) (string, error)

	mu   sync.Mutex
	last string
}

func (c *credential) token(ctx context.Context) (string, error) {
	token, err := c.source(ctx)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = token
	return token, nil
}

func (c *credential) latest() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

func (c *credential) hide(text string) string {
	if last := c.latest(); last != "" {
		return strings.ReplaceAll(text, last, "***")
	}
	return text
}

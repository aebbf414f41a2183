package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

type tokenTransport struct {
	credential *credential
	next       http.RoundTripper
}

func (b tokenTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	token, err := b.credential.token(req.Context())
	if err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Header.Set("Authorization", "Bearer "+token)
	return b.next.RoundTrip(out)
}

// sameHostOnly refuses redirects to another host, which would get our token.
func sameHostOnly(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if next.URL.Host != first.Host || next.URL.Scheme != first.Scheme {
		return fmt.Errorf("redirected from %s to another host", first.Host)
	}
	if len(via) > 5 {
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

// Package github is the only package that uses GitHub's API. It reads a webhook's payload into a trigger, and makes the
// API calls of a run. It decides nothing; lower packages do.
package github

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/redact"
)

// Access is the repository, the address of its GitHub, and our identity: a token or an App.
type Access struct {
	Owner, Repo string
	BaseURL     string // GITHUB_API_URL; PublicURL where empty
	Token       string
	Input       string            // of the workflow, that the token comes from; github-token where empty
	App         *App              // goes before Token
	HTTP        http.RoundTripper // the way out, where it is not the usual one
	Retry       *RetryPolicy      // DefaultRetryPolicy where nil
}

// PublicURL is the API of github.com.
const PublicURL = "https://api.github.com"

// RetryPolicy is how often, and for how long, a call is tried again.
type RetryPolicy struct {
	Tries   int           // for a call that can do no harm twice
	Delay   time.Duration // before the second try; doubles, and is never quite the same
	MaxWait time.Duration // for a rate limit to be lifted; a longer one is an error
	Timeout time.Duration // of one try; 0: the default
}

// DefaultRetryPolicy waits for secondary limits of a minute, not for the primary one of an hour.
var DefaultRetryPolicy = RetryPolicy{
	Tries:   3,
	Delay:   500 * time.Millisecond,
	MaxWait: time.Minute,
	Timeout: time.Minute,
}

// Client makes API calls for one repository.
type Client struct {
	Owner, Repo string
	Starter     *Client // pushes branches and opens pull requests in its place, which starts CI; nil: it does so itself

	api          *gh.Client
	withoutToken *http.Client // sends no token
	graphql      string
	retry        RetryPolicy
	credential   *credential
	tokenInput   string     // that its token comes from
	asking       sync.Mutex // for ownLogin
	ownLogin     string
}

// Connect makes a client of a. It makes no call yet.
func Connect(a Access) (*Client, error) {
	base, err := baseURL(a)
	if err != nil {
		return nil, err
	}
	retry, out := a.transport()
	c := &Client{
		Owner: a.Owner, Repo: a.Repo,
		graphql:      graphqlURL(base),
		retry:        retry,
		withoutToken: &http.Client{Transport: out},
		tokenInput:   cmp.Or(a.Input, "github-token"),
	}
	if err := c.identify(a, base, out); err != nil {
		return nil, err
	}
	c.api = apiClient(base, tokenTransport{credential: c.credential, next: out})
	return c, nil
}

// Opener is the client that pushes branches and opens pull requests.
func (c *Client) Opener() *Client { return cmp.Or(c.Starter, c) }

// transport returns how often calls are tried again, and the way that they take once they have a token.
func (a Access) transport() (RetryPolicy, http.RoundTripper) {
	retry := *cmp.Or(a.Retry, &DefaultRetryPolicy)
	retry.Timeout = cmp.Or(retry.Timeout, DefaultRetryPolicy.Timeout)
	return retry, cmp.Or(a.HTTP, http.DefaultTransport)
}

func (c *Client) identify(a Access, base *url.URL, out http.RoundTripper) error {
	if a.App != nil {
		app, err := newApp(*a.App, base, out)
		if err != nil {
			return err
		}
		app.owner = a.Owner
		app.repo = a.Repo
		c.credential = &credential{source: app.token}
		return nil
	}
	token := strings.TrimSpace(a.Token)
	if token == "" {
		fix := "set `github-token: ${{ github.token }}`, or `app-id` and `app-private-key`"
		return fault.Usage("no GitHub token", fix, nil)
	}
	c.credential = &credential{source: func(context.Context) (string, error) { return token, nil }}
	return nil
}

// GitToken is for pushes as x-access-token. An App's token lasts an hour: ask each time.
func (c *Client) GitToken(ctx context.Context) (redact.Secret, error) {
	token, err := withRetry(ctx, c, operation{action: "get a token for git"}, c.credential.token)
	return redact.Secret(token), err
}

func apiClient(base *url.URL, transport http.RoundTripper) *gh.Client {
	api := gh.NewClient(&http.Client{Transport: transport, CheckRedirect: sameHostOnly})
	// Not WithEnterpriseURLs, which guesses the path: GITHUB_API_URL is complete.
	api.BaseURL = base
	api.UserAgent = "ralph"
	return api
}

// Names become parts of a URL, so only what GitHub allows may pass.
var validName = pattern.Of(`^[A-Za-z0-9._-]+$`)

func baseURL(a Access) (*url.URL, error) {
	for _, name := range []string{a.Owner, a.Repo} {
		if !validName.MatchString(name) || strings.Trim(name, ".") == "" {
			return nil, fault.Usage("no repository: \""+a.Owner+"/"+a.Repo+"\"", "name one as owner/name", nil)
		}
	}
	return apiURL(a.BaseURL)
}

func apiURL(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(cmp.Or(text, PublicURL), "/") + "/")
	if err != nil || !isPlainHTTP(base) {
		// The cause is left out: it repeats the text, and that may hold a password.
		return nil, fault.Usage("no API address in GITHUB_API_URL",
			"write it as https://HOST/api/v3, without user and password", nil)
	}
	return base, nil
}

// isPlainHTTP reports an address of HTTP without user and password.
func isPlainHTTP(u *url.URL) bool {
	if u.Host == "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http"
}

// graphqlURL is https://HOST/api/graphql on a company's server.
func graphqlURL(base *url.URL) string {
	root := strings.TrimRight(base.String(), "/")
	if server, ok := strings.CutSuffix(root, "/api/v3"); ok {
		return server + "/api/graphql"
	}
	return root + "/graphql"
}

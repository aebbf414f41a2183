package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// App is who we are when we come as a GitHub App.
type App struct {
	ID         int64
	PrivateKey string // PEM; a literal \n stands for a line's end, as secrets often hold it
}

// app trades the App's key for tokens of an hour that reach one repository.
type app struct {
	owner, repo string
	transport   *ghinstallation.AppsTransport
	api         *gh.Client // speaks as the App itself, not as an installation

	mu     sync.Mutex
	tokens *ghinstallation.Transport
}

func newApp(a App, base *url.URL, out http.RoundTripper) (*app, error) {
	if a.ID <= 0 {
		return nil, fault.Usage("the App has no id", "give its number as `app-id`", nil)
	}
	key := strings.ReplaceAll(a.PrivateKey, `\n`, "\n")
	signed, err := ghinstallation.NewAppsTransport(out, a.ID, []byte(strings.TrimSpace(key)))
	if err != nil {
		return nil, fault.Usage("the App's private key cannot be read",
			"give the whole .pem file as `app-private-key`, from -----BEGIN to END-----", err)
	}
	signed.BaseURL = strings.TrimRight(base.String(), "/")
	return &app{transport: signed, api: apiClient(base, signed)}, nil
}

// ghinstallation keeps a token until a minute before it expires.
func (a *app) token(ctx context.Context) (string, error) {
	tokens, err := a.installed(ctx)
	if err != nil {
		return "", err
	}
	token, err := tokens.Token(ctx)
	if err != nil {
		fix := "check that `app-id` and `app-private-key` belong together, and that the App is installed"
		return "", refusedApp(err, fix)
	}
	return token, nil
}

// installed finds the installation once, and again after a failure.
func (a *app) installed(ctx context.Context) (*ghinstallation.Transport, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tokens != nil {
		return a.tokens, nil
	}
	found, _, err := a.api.Apps.FindRepositoryInstallation(ctx, a.owner, a.repo)
	if err != nil {
		fix := fmt.Sprintf("install the App on %s/%s, and check `app-id` and `app-private-key`", a.owner, a.repo)
		return nil, refusedApp(err, fix)
	}
	a.tokens = ghinstallation.NewFromAppsTransport(a.transport, found.GetID())
	// What leaks must not reach the organization's other repositories.
	a.tokens.InstallationTokenOptions = &gh.InstallationTokenOptions{Repositories: []string{a.repo}}
	return a.tokens, nil
}

func refusedApp(err error, fix string) error {
	e := errorOf(err)
	if e.Kind == Unavailable || e.Kind == RateLimited {
		return e
	}
	return &fault.Fault{What: "get a token for the App", Fix: fix, Exit: fault.ExitUsage, Err: e}
}

// ConnectApp makes a client that speaks as the App in a, and reaches no repository. It makes no call yet.
func ConnectApp(a Access) (*Client, error) {
	base, err := apiURL(a.BaseURL)
	if err != nil {
		return nil, err
	}
	retry, out := a.transport()
	app, err := newApp(*a.App, base, out)
	if err != nil {
		return nil, err
	}
	return &Client{api: app.api, retry: retry, credential: &credential{}}, nil
}

// Delivery is one attempt to deliver. Attempts of the same delivery share their GUID.
type Delivery struct {
	ID     int64
	GUID   string
	Event  string
	At     time.Time
	Status int // of the answer; 0 or 502 and the like without one
}

// Accepted reports whether somebody said that they had it.
func (l Delivery) Accepted() bool { return l.Status >= 200 && l.Status < 300 }

// maxLogPages bounds how much of the log is read at once: 100 tries a page.
const maxLogPages = 200

// Deliveries lists those of the App's webhook since a time, newest first; whole is false if there are more.
func (c *Client) Deliveries(ctx context.Context, since time.Time) (all []Delivery, whole bool, err error) {
	options := &gh.ListCursorOptions{PerPage: 100}
	op := operation{action: "read the log of deliveries"}
	for range maxLogPages {
		var next string
		page, err := withRetry(ctx, c, op, func(ctx context.Context) ([]*gh.HookDelivery, error) {
			page, resp, err := c.api.Apps.ListHookDeliveries(ctx, options)
			if err != nil {
				return nil, err
			}
			next = resp.Cursor
			return page, nil
		})
		if err != nil {
			return nil, false, err
		}
		for _, d := range page {
			if d.GetDeliveredAt().Before(since) {
				return all, true, nil
			}
			all = append(all, Delivery{
				ID:     d.GetID(),
				GUID:   d.GetGUID(),
				Event:  d.GetEvent(),
				At:     d.GetDeliveredAt().Time,
				Status: d.GetStatusCode(),
			})
		}
		if next == "" {
			return all, true, nil
		}
		options.Cursor = next
	}
	return all, false, nil
}

// Payload returns what GitHub tried to deliver then.
func (c *Client) Payload(ctx context.Context, id int64) ([]byte, error) {
	op := operation{action: fmt.Sprintf("read delivery %d", id)}
	return withRetry(ctx, c, op, func(ctx context.Context) ([]byte, error) {
		d, _, err := c.api.Apps.GetHookDelivery(ctx, id)
		if err != nil {
			return nil, err
		}
		if d.Request == nil || d.Request.RawPayload == nil {
			return nil, &Error{Kind: NotFound, Message: "the delivery has no payload any more"}
		}
		return *d.Request.RawPayload, nil
	})
}

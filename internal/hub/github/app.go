package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// App is who we are when we come as a GitHub App.
type App struct {
	ID         int64
	Least      bool   // its tokens may do what a job of ours does, and nothing else
	PrivateKey string // PEM; a literal \n stands for a line's end, as secrets often hold it
}

// app trades the App's key for tokens of an hour that reach one repository.
type app struct {
	owner, repo string
	transport   *ghinstallation.AppsTransport
	api         *gh.Client // speaks as the App itself, not as an installation

	mu     sync.Mutex
	least  bool
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
	return &app{transport: signed, api: apiClient(base, signed), least: a.Least}, nil
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
	if a.least {
		read, write := "read", "write"
		own := &gh.InstallationPermissions{
			Actions:      &write,
			Checks:       &read,
			Contents:     &write,
			Issues:       &write,
			Metadata:     &read,
			PullRequests: &write,
		}
		if found.GetPermissions().GetStatuses() != "" { // an App that was made before ralph read them has none
			own.Statuses = &read
		}
		a.tokens.InstallationTokenOptions.Permissions = own
	}
	return a.tokens, nil
}

func refusedApp(err error, fix string) error {
	e := errorOf(err)
	if e.Kind == Unavailable || e.Kind == RateLimited {
		return e
	}
	return &fault.Fault{What: "get a token for the App", Fix: fix, Exit: fault.ExitUsage, Err: e}
}

// NewApp is a GitHub App to be created.
type NewApp struct {
	Name         string // unique on GitHub; its owner can change it there
	Home         string // a page about it
	Deliver      string // where GitHub sends what happens
	Return       string // where GitHub sends its maker back to
	Organization string // its owner; empty: the person who creates it
	API          string // of its GitHub, as an Access has it
}

// Manifest returns the text for GitHub's form, with only the permissions that ralph needs.
func (b NewApp) Manifest() string {
	text, _ := json.Marshal(map[string]any{
		"name": b.Name, "url": b.Home, "redirect_url": b.Return, "public": false,
		"hook_attributes": map[string]any{"url": b.Deliver, "active": true},
		"default_permissions": map[string]string{
			"actions":       "write",
			"checks":        "read",
			"contents":      "write",
			"issues":        "write",
			"metadata":      "read",
			"pull_requests": "write",
			"statuses":      "read",
		},
		"default_events": []string{
			"issues", "issue_comment", "pull_request_review", "pull_request_review_comment", "check_suite", "status",
		},
	}) // texts, and maps and lists of them, have no error
	return string(text)
}

// FormURL returns where GitHub takes a manifest, and the site that is on.
func (b NewApp) FormURL(state string) (form, site string, err error) {
	base, err := apiURL(b.API)
	if err != nil {
		return "", "", err
	}
	if b.Organization != "" && !validName.MatchString(b.Organization) {
		what := fmt.Sprintf("%q is no organization", b.Organization)
		return "", "", fault.Usage(what, "give its name as in its address", nil)
	}
	u := webURL(base)
	site = u.String()
	if b.Organization != "" {
		u = u.JoinPath("organizations", b.Organization)
	}
	u = u.JoinPath("settings", "apps", "new")
	u.RawQuery = url.Values{"state": {state}}.Encode()
	return u.String(), site, nil
}

// CreatedApp is a GitHub App that was just made. GitHub hands this over once.
type CreatedApp struct {
	ID         int64  `json:"app_id"`
	Slug       string `json:"slug,omitempty"`
	Page       string `json:"-"`           // where it is shown, and installed
	PrivateKey string `json:"private_key"` // PEM
	Secret     string `json:"webhook_secret"`
}

var validCode = pattern.Of(`^[A-Za-z0-9]{8,128}$`)

var errNoCode = errors.New("that is not a code from GitHub")

// RedeemCode gets the App of a manifest for its code, which works once within an hour.
func RedeemCode(ctx context.Context, a Access, code string) (CreatedApp, error) {
	if !validCode.MatchString(code) {
		return CreatedApp{}, errNoCode
	}
	base, err := apiURL(a.BaseURL)
	if err != nil {
		return CreatedApp{}, err
	}
	retry, out := a.transport()
	// Errors hide the code: who reads it could use it first.
	c := &Client{api: apiClient(base, out), retry: retry, credential: &credential{last: code}}
	op := operation{action: "take over the new App", notRepeatable: true}
	return withRetry(ctx, c, op, func(ctx context.Context) (CreatedApp, error) {
		app, _, err := c.api.Apps.CompleteAppManifest(ctx, code)
		if err != nil {
			return CreatedApp{}, err
		}
		if app.GetID() == 0 || app.GetPEM() == "" || app.GetWebhookSecret() == "" {
			return CreatedApp{}, errEmpty
		}
		return CreatedApp{
			ID:         app.GetID(),
			Slug:       app.GetSlug(),
			Page:       app.GetHTMLURL(),
			PrivateKey: app.GetPEM(),
			Secret:     app.GetWebhookSecret(),
		}, nil
	})
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

	Installation int64 // of the App, in the account of the repository; 0: unknown
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
				ID:           d.GetID(),
				GUID:         d.GetGUID(),
				Event:        d.GetEvent(),
				At:           d.GetDeliveredAt().Time,
				Status:       d.GetStatusCode(),
				Installation: d.GetInstallationID(),
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

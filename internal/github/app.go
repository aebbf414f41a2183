package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fault"
)

// App is who we are when we come as a GitHub App.
type App struct {
	ID             int64
	InstallationID int64  // found by the repository where 0
	Least          bool   // its tokens may do what a job of ours does, and nothing else
	PrivateKey     string // PEM; a literal \n stands for a line's end, as secrets often hold it
}

// app trades the App's key for tokens that last an hour and reach one
// repository.
type app struct {
	owner, repo string
	signed      *ghinstallation.AppsTransport
	api         *gh.Client // speaks as the App itself, not as an installation

	mu           sync.Mutex
	installation int64
	least        bool
	tokens       *ghinstallation.Transport
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
	return &app{signed: signed, api: apiClient(base, signed), installation: a.InstallationID, least: a.Least}, nil
}

// token is that of the moment. ghinstallation keeps it until a minute before
// it expires and then gets a new one.
func (a *app) token(ctx context.Context) (string, error) {
	tokens, err := a.installed(ctx)
	if err != nil {
		return "", err
	}
	token, err := tokens.Token(ctx)
	if err != nil {
		return "", refusedApp(err, "check that `app-id` and `app-private-key` belong together, and that the App is installed")
	}
	return token, nil
}

// installed finds the installation at first use, and again when that failed.
func (a *app) installed(ctx context.Context) (*ghinstallation.Transport, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tokens != nil {
		return a.tokens, nil
	}
	if a.installation == 0 {
		found, _, err := a.api.Apps.FindRepositoryInstallation(ctx, a.owner, a.repo)
		if err != nil {
			return nil, refusedApp(err, fmt.Sprintf("install the App on %s/%s, and check `app-id` and `app-private-key`", a.owner, a.repo))
		}
		a.installation = found.GetID()
	}
	a.tokens = ghinstallation.NewFromAppsTransport(a.signed, a.installation)
	// What leaks must not reach the organization's other repositories.
	a.tokens.InstallationTokenOptions = &gh.InstallationTokenOptions{Repositories: []string{a.repo}}
	if a.least {
		a.tokens.InstallationTokenOptions.Permissions = jobsOwn()
	}
	return a.tokens, nil
}

// jobsOwn are the permissions that the workflow's template gives a job.
func jobsOwn() *gh.InstallationPermissions {
	read, write := "read", "write"
	return &gh.InstallationPermissions{
		Actions: &read, Checks: &read, Contents: &write, Issues: &write, Metadata: &read, PullRequests: &write,
	}
}

// login is the name under which the App writes comments.
func (a *app) login(ctx context.Context) (string, error) {
	self, _, err := a.api.Apps.Get(ctx, "")
	if err != nil {
		return "", fmt.Errorf("ask who the App is: %w", err)
	}
	if self.GetSlug() == "" {
		return "", errEmpty
	}
	return self.GetSlug() + "[bot]", nil
}

// refusedApp explains an answer about the App itself, for which a caller who
// only wanted to comment has no remedy.
func refusedApp(err error, fix string) error {
	e := understand(err)
	if e.Kind == Unavailable || e.Kind == RateLimited {
		return e
	}
	return &fault.Fault{What: "get a token for the App", Fix: fix, Exit: fault.ExitUsage, Err: e}
}

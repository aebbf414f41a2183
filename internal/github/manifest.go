package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
)

// Blueprint is a GitHub App that is still to be made.
type Blueprint struct {
	Name         string // which nobody else's may have; its maker can change it on GitHub's page
	Home         string // a page about it
	Deliver      string // where GitHub sends what happens
	Return       string // where GitHub sends its maker back to
	Organization string // that is to own it; empty: whoever makes it
	API          string // of its GitHub, as an Access has it
}

// Manifest is b in the words of GitHub's form, with no permission that neither
// the server nor a job of ours needs.
func (b Blueprint) Manifest() (string, error) {
	text, err := json.Marshal(map[string]any{
		"name": b.Name, "url": b.Home, "redirect_url": b.Return, "public": false,
		"hook_attributes": map[string]any{"url": b.Deliver, "active": true},
		"default_permissions": map[string]string{
			"actions": "write", "checks": "read", "contents": "write", "issues": "write", "metadata": "read", "pull_requests": "write",
		},
		"default_events": []string{"issues", "issue_comment", "pull_request_review", "pull_request_review_comment"},
	})
	return string(text), err
}

// Form is where GitHub takes a manifest, and the site that is on.
func (b Blueprint) Form(state string) (form, site string, err error) {
	base, err := apiURL(b.API)
	if err != nil {
		return "", "", err
	}
	if b.Organization != "" && !names.MatchString(b.Organization) {
		return "", "", fault.Usage(fmt.Sprintf("%q is no organization", b.Organization), "give its name as it stands in its address", nil)
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

// Made is a GitHub App that was just made. GitHub hands this over once.
type Made struct {
	ID         int64
	Slug       string
	Page       string // where it is shown, and installed
	PrivateKey string // PEM
	Secret     string // of its webhook
}

// codes are what GitHub sends an App's maker back with.
var codes = pattern.Of(`^[A-Za-z0-9]{8,128}$`)

var errNoCode = errors.New("that is no code of GitHub's")

// TakeOver gets the App that was made of a manifest, for the code that its
// maker came back with. A code is good for one time, within the hour.
func TakeOver(ctx context.Context, a Access, code string) (Made, error) {
	if !codes.MatchString(code) {
		return Made{}, errNoCode
	}
	base, err := apiURL(a.BaseURL)
	if err != nil {
		return Made{}, err
	}
	pace := DefaultPace
	if a.Pace != nil {
		pace = *a.Pace
	}
	// Whoever reads the code in an error could be faster than we are next time.
	c := &Client{api: apiClient(base, outward(a.HTTP, pace)), pace: pace, held: &credential{last: code}}
	return ask(ctx, c, act{what: "take over the new App", once: true}, func(ctx context.Context) (Made, error) {
		app, _, err := c.api.Apps.CompleteAppManifest(ctx, code)
		if err != nil {
			return Made{}, err
		}
		if app.GetID() == 0 || app.GetPEM() == "" || app.GetWebhookSecret() == "" {
			return Made{}, errEmpty
		}
		return Made{ID: app.GetID(), Slug: app.GetSlug(), Page: app.GetHTMLURL(), PrivateKey: app.GetPEM(), Secret: app.GetWebhookSecret()}, nil
	})
}

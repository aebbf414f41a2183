package github_test

import (
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
)

func TestWhoVouchesForJobs(t *testing.T) {
	for api, want := range map[string]string{
		"":                              "https://token.actions.githubusercontent.com",
		"https://api.github.com":        "https://token.actions.githubusercontent.com",
		"https://git.corp/api/v3":       "https://git.corp/_services/token",
		"https://git.corp:8443/api/v3/": "https://git.corp:8443/_services/token",
		"https://api.acme.ghe.com":      "https://token.actions.acme.ghe.com",
	} {
		if got, err := github.Issuer(api); err != nil || got != want {
			t.Errorf("Issuer(%q) = %q, %v, want %q", api, got, err, want)
		}
	}
	if got, err := github.Issuer("git.corp"); err == nil {
		t.Errorf("no address vouches by %q", got)
	}
}

func TestFormsOfAllGitHubs(t *testing.T) {
	for _, c := range []struct{ api, organization, form string }{
		{"", "", "https://github.com/settings/apps/new?state=s"},
		{"https://api.github.com", "acme", "https://github.com/organizations/acme/settings/apps/new?state=s"},
		{"https://git.corp/api/v3", "acme", "https://git.corp/organizations/acme/settings/apps/new?state=s"},
		{"https://api.acme.ghe.com", "", "https://acme.ghe.com/settings/apps/new?state=s"},
	} {
		form, _, err := github.NewApp{API: c.api, Organization: c.organization}.FormURL("s")
		if err != nil || form != c.form {
			t.Errorf("of %q and %q: %s, %v, want %s", c.api, c.organization, form, err, c.form)
		}
	}
}

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

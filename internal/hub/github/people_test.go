package github_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

func TestPermission(t *testing.T) {
	server := stand(t, func(r *githubtest.Repo) { r.Private = true })
	client := connect(t, access(server))
	for login, want := range map[string]string{
		"acme":             "admin",
		"max":              "write", // maintain
		"mia":              "write",
		"tim":              "read", // triage
		"rea":              "read",
		"missing":          "none",
		"dependabot[bot]":  "none",
		"":                 "none",
		"../../rea":        "none", // no login: GitHub is not asked
		"mia/permission?x": "none",
	} {
		got, err := client.Permission(t.Context(), login)
		if err != nil || string(got) != want {
			t.Errorf("Permission(%q) = %q, %v, want %q", login, got, err, want)
		}
	}
	for _, call := range server.Requests() {
		if strings.Contains(call.Path, "rea/") && !strings.HasSuffix(call.Path, "/collaborators/rea/permission") {
			t.Errorf("a login became a path: %s", call.Path)
		}
	}
}

// A role that somebody made up counts for what it is based on: GitHub says so
// in the old field, and the name of the role is nothing to go by.
func TestPermissionOfARoleOfTheirOwn(t *testing.T) {
	server := stand(t, nil)
	server.Inject(githubtest.Fault{
		Path: "/repos/acme/shop/collaborators/mia/permission", Status: 200,
		Body: `{"permission":"read","role_name":"admin-of-docs","user":{"login":"mia"}}`,
	})
	if got, err := connect(t, access(server)).Permission(t.Context(), "mia"); got != "read" || err != nil {
		t.Errorf("Permission = %q, %v, want read", got, err)
	}
}

// A reviewer who cannot be asked does not prevent the request to others.
func TestReviewersWhoCannotBeAsked(t *testing.T) {
	server := stand(t, nil)
	client := connect(t, access(server))
	pull, err := client.OpenPull(t.Context(), cart)
	if err != nil {
		t.Fatal(err)
	}
	var said []error
	for _, name := range []string{actor, "mia", "missing-here", "@max"} {
		said = append(said, client.AskReviewer(t.Context(), pull.Number, name))
	}
	if got, _ := server.Pull(shop, pull.Number); !slices.Equal(got.Reviewers, []string{"mia", "max"}) {
		t.Errorf("reviewers %v, want mia and max", got.Reviewers)
	}
	for _, name := range []string{actor, "missing-here"} {
		if !strings.Contains(fmt.Sprint(said), "ask "+name+" for a review of #2: ") {
			t.Errorf("there is no report that %s was not asked: %v", name, said)
		}
	}
	if err := client.AskReviewer(t.Context(), pull.Number, "missing-here"); !is(err, github.Refused) || strings.Contains(err.Error(), "\n") {
		t.Errorf("asked alone: %v, want one refusal", err)
	}
}

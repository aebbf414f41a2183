package github_test

import (
	"crypto/rand"
	"crypto/rsa"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// asApp is access by an App that is installed on repos.
func asApp(t *testing.T, server *githubtest.Server, repos ...string) github.Access {
	t.Helper()
	server.AddApp(githubtest.App{
		ID: 12, Slug: "ralph-loop", Owner: "acme", Key: &githubtest.Key().PublicKey, Installation: 345,
		Repos: repos, Permissions: githubtest.WriteAll(),
	})
	a := access(server)
	a.Token, a.App = "", &github.App{ID: 12, PrivateKey: githubtest.PEM(githubtest.Key())}
	return a
}

func TestAnAppGetsATokenForItsRepositoryAndKeepsIt(t *testing.T) {
	server := stand(t, nil)
	server.AddRepo(githubtest.Repo{Owner: "acme", Name: "payroll", Private: true})
	a := asApp(t, server, shop, "acme/payroll")
	// As a secret often holds it: one line.
	a.App.PrivateKey = strings.ReplaceAll(a.App.PrivateKey, "\n", `\n`)
	client := connect(t, a)
	first, err := client.GitToken(t.Context())
	if err != nil || first == "" {
		t.Fatalf("GitToken = %q, %v", first, err)
	}
	second, err := client.GitToken(t.Context())
	if err != nil || second != first {
		t.Errorf("the second token is %q, %v, want the first again", second, err)
	}
	const tokens = "/app/installations/345/access_tokens"
	if n := sent(server, "POST", tokens); n != 1 {
		t.Errorf("%d tokens were asked for, want 1", n)
	}
	for _, call := range server.Requests() {
		if call.Path == tokens && strings.TrimSpace(call.Body) != `{"repositories":["shop"]}` {
			t.Errorf("the token reaches further than the repository: %s", call.Body)
		}
	}
}

func TestAppsThatDoNotFit(t *testing.T) {
	server := stand(t, nil)
	server.AddRepo(githubtest.Repo{Owner: "acme", Name: "other"})
	good := asApp(t, server, "acme/other")
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	foreign := githubtest.PEM(other)
	for name, c := range map[string]struct {
		app  github.App
		kind github.Kind
		fix  string
	}{
		"not installed": {github.App{ID: 12, PrivateKey: good.App.PrivateKey}, github.NotFound, "install the App on acme/shop"},
		"another's key": {github.App{ID: 12, PrivateKey: foreign}, github.Unauthorized, "`app-private-key`"},
		"unknown id":    {github.App{ID: 13, PrivateKey: foreign}, github.Unauthorized, "`app-id`"},
	} {
		t.Run(name, func(t *testing.T) {
			a := good
			a.App = &c.app
			err := connect(t, a).React(t.Context(), trigger.Trigger{Issue: trigger.Issue{Number: 1}}, github.Eyes)
			if !is(err, c.kind) || !strings.Contains(fault.Hint(err), c.fix) {
				t.Errorf("got %v, hint %q, want %s and %q", err, fault.Hint(err), c.kind, c.fix)
			}
		})
	}
}

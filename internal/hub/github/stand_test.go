package github_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest/contract"
)

const (
	shop  = "acme/shop"
	job   = "ghs_thejobstoken0000000000000000000000"
	shaA  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	shaB  = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	work  = "ralph/issue-1-add-a-cart"
	actor = "github-actions[bot]"
)

// hasty tries as often as we do, and does not wait.
var hasty = &github.RetryPolicy{Tries: 3, MaxWait: time.Second}

// stand returns a GitHub with one repository, one issue, a branch with work on it,
// and the token of a job that may do what ralph asks for.
func stand(t *testing.T, change func(*githubtest.Repo)) *githubtest.Server {
	t.Helper()
	repo := githubtest.Repo{
		Owner: "acme", Name: "shop", Dir: bare(t, map[string]string{"main": shaA, work: shaB}),
		Roles: map[string]string{"mia": "write", "tim": "triage", "max": "maintain", "rea": "read"},
	}
	if change != nil {
		change(&repo)
	}
	server := &githubtest.Server{Now: time.Now, Wrap: contract.Around(t, os.Getenv("CONTRACT") != "")}
	server.AddRepo(repo)
	server.AddIssue(shop, githubtest.Issue{Title: "Add a cart", Body: "It is missing.", Author: "otto"})
	server.AddToken(job, githubtest.Token{
		Login: actor, Kind: githubtest.Job, Repos: []string{shop}, Permissions: githubtest.WriteAll(),
	})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// bare is as much of a bare repository as the stand-in reads.
func bare(t *testing.T, branches map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, sha := range branches {
		path := filepath.Join(dir, "refs", "heads", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(sha+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func access(server *githubtest.Server) github.Access {
	return github.Access{Owner: "acme", Repo: "shop", BaseURL: server.URL + "/api/v3", Token: job, Retry: hasty}
}

func connect(t *testing.T, a github.Access) *github.Client {
	t.Helper()
	client, err := github.Connect(a)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// sent counts the requests of one method to one path.
func sent(server *githubtest.Server, method, path string) int {
	n := 0
	for _, call := range server.Requests() {
		if call.Method == method && call.Path == path {
			n++
		}
	}
	return n
}

package githubtest_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

const (
	shop     = "acme/shop"
	jobToken = "ghs_job"
)

// gitEnv keeps the machine's own configuration out of the tests.
func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
}

func tryGit(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, gitEnv()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = errors.Join(err, errors.New(stderr.String()))
	}
	return string(out), err
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := tryGit(t.Context(), dir, args...); err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
}

// bare makes a repository with two commits on main, and on work one more.
func bare(t *testing.T) string {
	t.Helper()
	tree, dir := t.TempDir(), filepath.Join(t.TempDir(), "shop.git")
	git(t, tree, "init", "-q", "-b", "main")
	for _, name := range []string{"README", "LICENSE"} {
		write(t, filepath.Join(tree, name), name+"\n")
		git(t, tree, "add", ".")
		git(t, tree, "commit", "-qm", "add "+name)
	}
	git(t, tree, "checkout", "-qb", "ralph/issue-1")
	write(t, filepath.Join(tree, "work"), "done\n")
	git(t, tree, "add", ".")
	git(t, tree, "commit", "-qm", "work")
	git(t, tree, "branch", "same", "main")
	git(t, tree, "branch", "behind", "main~1")
	git(t, "", "clone", "-q", "--bare", tree, dir)
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs a server with acme/shop, whose people are named after their roles.
func start(t *testing.T, set ...func(*githubtest.Server)) *githubtest.Server {
	t.Helper()
	s := &githubtest.Server{Git: tryGit, Temp: t.TempDir()}
	for _, f := range set {
		f(s)
	}
	roles := map[string]string{}
	for _, role := range []string{"admin", "maintain", "write", "triage", "read"} {
		roles[role] = role
		s.AddToken("ghp_"+role, githubtest.Token{Login: role, Kind: githubtest.Personal})
	}
	s.AddToken(jobToken, githubtest.Token{
		Login: "github-actions[bot]", Kind: githubtest.Job, Repos: []string{shop}, Permissions: githubtest.WriteAll(),
	})
	s.AddRepo(githubtest.Repo{Owner: "acme", Name: "shop", Dir: bare(t), Roles: roles})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// transport is a client's own, so that no connection outlives the test.
func client(t *testing.T, s *githubtest.Server, token string) *github.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c := github.NewClient(&http.Client{Transport: transport, Timeout: time.Minute})
	if token != "" {
		c = c.WithAuthToken(token)
	}
	c, err := c.WithEnterpriseURLs(s.URL, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refused returns the status and message of a refusal, and of its first problem.
func refused(t *testing.T, err error) (int, string) {
	t.Helper()
	var failed *github.ErrorResponse
	if !errors.As(err, &failed) {
		t.Fatalf("err = %v, want a refusal", err)
	}
	message := failed.Message
	for _, problem := range failed.Errors {
		message += "; " + strings.TrimSpace(problem.Field+" "+problem.Code+" "+problem.Message)
	}
	return failed.Response.StatusCode, message
}

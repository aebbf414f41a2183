package githubtest_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// remote returns the address of a repository with a token in it.
func remote(t *testing.T, s *githubtest.Server, token string) string {
	t.Helper()
	address, err := url.Parse(s.URL + "/" + shop + ".git")
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		address.User = url.UserPassword("x-access-token", token)
	}
	return address.String()
}

// clone returns a checkout with one more commit, on the branch ralph/new.
func clone(t *testing.T, s *githubtest.Server, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, "", "clone", "-q", remote(t, s, jobToken), dir)
	git(t, dir, "checkout", "-qb", "ralph/new")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "more")
	return dir
}

func TestPush(t *testing.T) {
	private := func(s *githubtest.Server) {
		s.AddRepo(githubtest.Repo{Owner: "acme", Name: "vault", Private: true, Dir: bare(t)})
	}
	s := start(t, private)
	s.AddToken("ghs_reads", githubtest.Token{Login: "app[bot]", Kind: githubtest.Installation, Permissions: map[string]string{"contents": "read"}})
	dir := clone(t, s, map[string]string{"new": "new\n"})
	for _, one := range []struct{ name, token, want string }{
		{"job", jobToken, ""},
		{"writer", "ghp_write", ""},
		{"reader", "ghp_read", "Permission to acme/shop.git denied to read."},
		{"no token", "", "could not read Username"},
		{"wrong token", "ghs_wrong", "Authentication failed"},
		{"token without contents", "ghs_reads", "403"},
	} {
		t.Run(one.name, func(t *testing.T) {
			_, err := tryGit(t.Context(), dir, "push", remote(t, s, one.token), "ralph/new:refs/heads/ralph/"+strings.ReplaceAll(one.name, " ", "-"))
			want(t, err, one.want)
		})
	}
	t.Run("bearer", func(t *testing.T) {
		git(t, dir, "-c", "http.extraHeader=Authorization: Bearer "+jobToken, "push", "-q", remote(t, s, ""), "ralph/new:refs/heads/ralph/bearer")
	})
	t.Run("private repository", func(t *testing.T) {
		vault := strings.Replace(remote(t, s, "ghp_write"), "shop", "vault", 1)
		_, err := tryGit(t.Context(), dir, "ls-remote", vault)
		want(t, err, "not found")
	})
	head := git(t, dir, "rev-parse", "HEAD")
	if got := git(t, dir, "ls-remote", remote(t, s, ""), "refs/heads/ralph/job"); !strings.HasPrefix(got, head) {
		t.Errorf("ls-remote = %q, want %s", got, head)
	}
}

// want holds an error against a part of its text; nothing wants success.
func want(t *testing.T, err error, part string) {
	t.Helper()
	switch {
	case part == "" && err != nil:
		t.Errorf("err = %v, want none", err)
	case part != "" && (err == nil || !strings.Contains(err.Error(), part)):
		t.Errorf("err = %v, want %q", err, part)
	}
}

func TestRefusedPush(t *testing.T) {
	var mu sync.Mutex
	var pushes []githubtest.Push
	s := start(t, func(s *githubtest.Server) {
		s.RefusePush = func(p githubtest.Push) string {
			mu.Lock()
			defer mu.Unlock()
			pushes = append(pushes, p)
			if p.Ref == "refs/heads/no" {
				return "not today"
			}
			return ""
		}
		s.AddRepo(githubtest.Repo{Owner: "acme", Name: "safe", Dir: bare(t), Protected: []string{"main"}})
		s.AddToken("ghs_safe", githubtest.Token{Login: "app[bot]", Kind: githubtest.Installation, Permissions: githubtest.WriteAll()})
	})
	dir := clone(t, s, map[string]string{"new": "new\n"})
	_, err := tryGit(t.Context(), dir, "push", "origin", "HEAD:refs/heads/no", "HEAD:refs/heads/yes")
	want(t, err, "(not today)")
	want(t, err, "(pre-receive hook declined)")
	if got := git(t, dir, "ls-remote", "origin", "refs/heads/yes"); got != "" {
		t.Errorf("the rest of a refused push was taken: %s", got)
	}
	mu.Lock()
	first := pushes[0]
	mu.Unlock()
	if first.Actor != "github-actions[bot]" || first.Repo != shop || strings.Trim(first.Old, "0") != "" || first.New != git(t, dir, "rev-parse", "HEAD") {
		t.Errorf("push = %+v", first)
	}
	safe := strings.Replace(remote(t, s, "ghs_safe"), "shop", "safe", 1)
	_, err = tryGit(t.Context(), dir, "push", "-f", safe, "HEAD:main")
	want(t, err, "remote: error: GH006: Protected branch update failed for refs/heads/main.")
	want(t, err, "(protected branch hook declined)")
}

// A token without the permission may not touch workflows; what it pushes
// without them is taken.
func TestPushOfWorkflow(t *testing.T) {
	s := start(t)
	dir := clone(t, s, map[string]string{"new": "new\n"})
	git(t, dir, "push", "-q", "origin", "HEAD")
	write(t, filepath.Join(dir, ".github/workflows/ci.yml"), "on: push\n")
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "ci")
	for _, branch := range []string{"ralph/new", "ralph/other"} {
		_, err := tryGit(t.Context(), dir, "push", "origin", "HEAD:refs/heads/"+branch)
		want(t, err, "refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission")
	}
	if got := git(t, dir, "ls-remote", "origin", "refs/heads/ralph/new"); !strings.HasPrefix(got, git(t, dir, "rev-parse", "HEAD~1")) {
		t.Errorf("the branch was not put back: %s", got)
	}
	if got := git(t, dir, "ls-remote", "origin", "refs/heads/ralph/other"); got != "" {
		t.Errorf("the new branch was left: %s", got)
	}
	git(t, dir, "push", "-q", remote(t, s, "ghp_write"), "HEAD")
	git(t, dir, "push", "-q", "origin", "HEAD:refs/heads/ralph/other") // for another branch has it by now
	s.AddToken("ghs_flows", githubtest.Token{Login: "app[bot]", Kind: githubtest.Installation, Permissions: map[string]string{"contents": "write", "workflows": "write"}})
	git(t, dir, "push", "-q", remote(t, s, "ghs_flows"), "HEAD:refs/heads/ralph/flows")
}

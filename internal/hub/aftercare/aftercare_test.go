package aftercare_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/aftercare"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

const (
	shop  = "acme/shop"
	token = "ghs_job"
	bot   = "github-actions[bot]"
)

// now is when the jobs run, and long is before the age of what is removed.
var (
	now  = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	long = now.AddDate(0, 0, -100)
)

// place is a repository on GitHub with a ledger, and what a job there says and shows.
type place struct {
	*testing.T
	*githubtest.Server
	origin string
	first  string // a commit
	book   quota.Book
	said   []string
	page   string
}

func (p *place) change(_ context.Context, change func(quota.Book) (quota.Book, error)) error {
	next, err := change(p.book)
	if err == nil {
		p.book = next
	}
	return err
}

func open(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, origin: t.TempDir()}
	p.git("init", "-q", "--bare", "-b", "main")
	p.first = p.git("commit-tree", "-m", "one", p.git("mktree"))
	p.git("update-ref", "refs/heads/main", p.first)
	p.git("update-ref", quota.Ref, p.first)
	p.Server = &githubtest.Server{Now: func() time.Time { return now }, Temp: t.TempDir()}
	p.AddRepo(githubtest.Repo{Owner: "acme", Name: "shop", Dir: p.origin})
	p.AddToken(token, githubtest.Token{Login: bot, Kind: githubtest.Job, Repos: []string{shop}, Permissions: githubtest.WriteAll()})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// git runs git in the repository, with commits of long ago.
func (p *place) git(args ...string) string {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), "git", args...)
	at := long.Format(time.RFC3339)
	cmd.Dir, cmd.Env = p.origin, append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com", "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// pull opens a pull request of ralph's from a branch.
func (p *place) pull(branch string) int {
	p.Helper()
	p.git("update-ref", "refs/heads/"+branch, p.first)
	pull := p.AddPull(shop, githubtest.Pull{Title: "Work", Body: trigger.PullMarker + "\n", Head: branch, Author: bot})
	return pull.Number
}

// closes ends a pull request, and has a job see to that.
func (p *place) closes(number int) (string, error) {
	p.Helper()
	p.EditIssue(shop, number, func(i *githubtest.Issue) { i.State, i.ClosedAt = "closed", now })
	payload, err := p.PullEvent(githubtest.Event{Repo: shop, Issue: number, Sender: "ada"}, "closed")
	if err != nil {
		p.Fatal(err)
	}
	return p.job(payload)
}

func (p *place) job(payload []byte) (string, error) {
	p.Helper()
	client, err := github.Connect(github.Access{Owner: "acme", Repo: "shop", BaseURL: p.URL + "/api/v3", Token: token, Retry: &github.RetryPolicy{Tries: 1}})
	if err != nil {
		p.Fatal(err)
	}
	tool := git.Git{Run: new(process.Runner).Run, Path: os.Getenv("PATH"), Home: p.TempDir()}
	store, err := tool.Init(p.Context(), filepath.Join(p.TempDir(), "kept.git"), "sha1")
	if err != nil {
		p.Fatal(err)
	}
	event, err := github.ReadTrigger("pull_request", payload)
	if err != nil {
		p.Fatal(err)
	}
	return aftercare.Job{
		Trigger: event, Payload: payload, Client: client, Prefix: "ralph/", Store: store, Change: p.change, Now: func() time.Time { return now },
		Remote: remote.Repository{URL: p.origin},
		Say:    func(line string) { p.said = append(p.said, line) },
		Page:   func(text string) error { p.page = text; return nil },
	}.Do(p.Context())
}

// young returns a commit of today.
func (p *place) young() string {
	cmd := exec.CommandContext(p.Context(), "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit-tree", "-m", "two", p.first+"^{tree}")
	cmd.Dir, cmd.Env = p.origin, append(os.Environ(), "GIT_COMMITTER_DATE="+now.Format(time.RFC3339), "GIT_AUTHOR_DATE="+now.Format(time.RFC3339))
	out, err := cmd.Output()
	if err != nil {
		p.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// refuses has the repository keep a ref, as a rule of GitHub's would.
func (p *place) refuses(ref string) {
	p.Helper()
	hook := fmt.Sprintf("#!/bin/sh\n[ \"$1\" != %s ] || { echo 'GH013: Repository rule violations found' >&2; exit 1; }\n", ref)
	if err := os.MkdirAll(filepath.Join(p.origin, "hooks"), 0o750); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.origin, "hooks", "update"), []byte(hook), 0o700); err != nil {
		p.Fatal(err)
	}
}

// Saved runs of long ago are removed when a pull request ends, but for those that a rule of the repository keeps.
func TestOldRunsAreRemoved(t *testing.T) {
	p := open(t)
	p.git("update-ref", "refs/ralph/issue-1", p.first)
	p.git("update-ref", "refs/ralph/issue-2", p.first)
	p.git("update-ref", "refs/ralph/issue-3", p.young())
	p.refuses("refs/ralph/issue-2")
	if _, err := p.closes(p.pull("ralph/issue-9")); err != nil {
		t.Fatal(err)
	}
	want := "refs/ralph/issue-2\nrefs/ralph/issue-3\n" + quota.Ref
	if left := p.git("for-each-ref", "--format=%(refname)", "refs/ralph/"); left != want {
		t.Errorf("left are\n%s\nwant\n%s", left, want)
	}
	said := strings.Join(p.said, "\n")
	if !strings.Contains(said, "removed refs/ralph/issue-1") || !strings.Contains(said, "could not be deleted") {
		t.Errorf("the log says\n%s", said)
	}
}

// Only the end of a pull request that ralph opened, of a branch here, is entered.
func TestWhoseEndIsEntered(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*githubtest.Pull)
		want   bool
	}{
		"ralph's":                   {func(*githubtest.Pull) {}, true},
		"a person's":                {func(p *githubtest.Pull) { p.Author = "ada" }, false},
		"of another branch":         {func(p *githubtest.Pull) { p.Head = "mia/cart" }, false},
		"without the mark":          {func(p *githubtest.Pull) { p.Body = "Work" }, false},
		"of a fork":                 {func(p *githubtest.Pull) { p.HeadRepo = "mia/shop" }, false},
		"the mark is not the first": {func(p *githubtest.Pull) { p.Body = "Hi\n" + trigger.PullMarker }, false},
	} {
		p := open(t)
		pull := githubtest.Pull{Title: "Work", Body: trigger.PullMarker + "\n", Head: "ralph/issue-1", Author: bot}
		c.change(&pull)
		p.git("update-ref", "refs/heads/"+pull.Head, p.first)
		why, err := p.closes(p.AddPull(shop, pull).Number)
		if entered := len(p.book.Pulls) == 1 && p.page != ""; entered != c.want || err != nil {
			t.Errorf("%s: entered %t (%s, %v), want %t", name, entered, why, err, c.want)
		}
	}
}

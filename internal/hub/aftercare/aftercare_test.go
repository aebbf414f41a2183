package aftercare_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// now is when the jobs run, and long when what is due ended.
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

// git runs git in the repository at the time when what is due ended.
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

// pull opens a pull request of ralph's from a branch, with the labels of a run.
func (p *place) pull(branch string) int {
	p.Helper()
	p.git("update-ref", "refs/heads/"+branch, p.first)
	pull := p.AddPull(shop, githubtest.Pull{Title: "Work", Body: trigger.PullMarker + "\n", Head: branch, Author: bot})
	p.AddLabel(shop, pull.Number, "ralph:review", "bug")
	return pull.Number
}

// issue is one with the label of a run.
func (p *place) issue() int {
	made := p.AddIssue(shop, githubtest.Issue{Title: "Wish", Author: "ada"})
	p.AddLabel(shop, made.Number, "ralph:review", "bug")
	return made.Number
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
		Say:    func(line string) { p.said = append(p.said, line) }, Hide: func(text string) string { return text },
		Page: func(text string) error { p.page = text; return nil },
	}.Do(p.Context())
}

// ended returns the row of a pull request that ended long ago.
func (p *place) ended(number, issue int, branch string) quota.Pull {
	p.EditIssue(shop, number, func(i *githubtest.Issue) { i.State = "closed" })
	return quota.Pull{Number: number, Issue: issue, Branch: branch, Opened: long, End: quota.Closed, Ended: long, Head: p.first}
}

func (p *place) labels(number int) []string {
	found, _ := p.Issue(shop, number)
	return found.Labels
}

// What ralph kept for a pull request that ended long ago goes, but for what live work
// needs and what the repository's rules keep.
func TestWhatIsCleanedUp(t *testing.T) {
	const branch = "ralph/issue-1"
	bare, marked := []string{"bug"}, []string{"ralph:review", "bug"}
	for name, c := range map[string]struct {
		change       func(p *place, old *quota.Pull) []quota.Pull // more rows
		stays        bool                                         // the branch
		issue, pull  []string                                     // labels that are left
		notYet, told bool                                         // the next job tries again; the log says why
	}{
		"all of it": {issue: bare, pull: bare},
		"the issue has another pull request": {change: func(_ *place, old *quota.Pull) []quota.Pull {
			return []quota.Pull{{Number: 900, Issue: old.Issue, Branch: "ralph/issue-1-2"}}
		}, issue: marked, pull: bare},
		"the issue's next pull request ended lately": {change: func(_ *place, old *quota.Pull) []quota.Pull {
			return []quota.Pull{{Number: 900, Issue: old.Issue, Branch: "ralph/issue-1-2", End: quota.Closed, Ended: now.AddDate(0, 0, -1)}}
		}, issue: marked, pull: bare},
		"the issue has a newer run": {change: func(p *place, old *quota.Pull) []quota.Pull {
			p.git("update-ref", fmt.Sprintf("refs/ralph/issue-%d", old.Issue), p.young())
			return nil
		}, issue: marked, pull: bare},
		"the branch has a pull request that the ledger does not know": {change: func(p *place, _ *quota.Pull) []quota.Pull {
			p.AddPull(shop, githubtest.Pull{Title: "By hand", Head: branch, Author: "ada"})
			return nil
		}, stays: true, issue: bare, pull: bare},
		"the branch has moved on": {change: func(p *place, _ *quota.Pull) []quota.Pull {
			p.git("update-ref", "refs/heads/"+branch, p.young())
			return nil
		}, stays: true, issue: bare, pull: bare},
		"no branch may be deleted": {change: func(p *place, _ *quota.Pull) []quota.Pull {
			p.refuses("refs/heads/" + branch)
			return nil
		}, stays: true, issue: bare, pull: bare, told: true},
		"no saved state may be deleted": {change: func(p *place, _ *quota.Pull) []quota.Pull {
			p.git("update-ref", "refs/ralph/issue-77", p.first)
			p.refuses("refs/ralph/issue-77")
			return nil
		}, issue: bare, pull: bare, told: true},
		"no label may be removed": {change: func(p *place, _ *quota.Pull) []quota.Pull {
			p.Inject(githubtest.Fault{Method: "DELETE", Path: "/repos/acme/shop/issues/*/labels/*", Times: -1, Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
			return nil
		}, issue: marked, pull: marked, told: true},
		"GitHub is away": {change: func(p *place, _ *quota.Pull) []quota.Pull {
			p.Inject(githubtest.Fault{Method: "DELETE", Path: "/repos/acme/shop/issues/*/labels/*", Times: -1, Status: 502})
			return nil
		}, issue: marked, pull: marked, notYet: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			issue := p.issue()
			old := p.ended(p.pull(branch), issue, branch)
			var more []quota.Pull
			if c.change != nil {
				more = c.change(p, &old)
			}
			p.book.Pulls = append(more, old)
			if _, err := p.closes(p.pull("ralph/issue-9")); (err != nil) != c.notYet {
				t.Errorf("the job ends with %v", err)
			}
			if there := p.git("for-each-ref", "refs/heads/"+branch) != ""; there != c.stays {
				t.Errorf("the branch is there: %t, want %t", there, c.stays)
			}
			if diff := cmp.Diff([][]string{c.issue, c.pull}, [][]string{p.labels(issue), p.labels(old.Number)}); diff != "" {
				t.Errorf("labels of issue and pull request (-want +got):\n%s", diff)
			}
			at := slices.IndexFunc(p.book.Pulls, func(row quota.Pull) bool { return row.Number == old.Number })
			if swept := p.book.Pulls[at].Swept; swept == c.notYet {
				t.Errorf("marked as cleaned up: %t, want %t", swept, !c.notYet)
			}
			said := strings.Join(p.said, "\n")
			if told := strings.Contains(said, "could not be deleted") || strings.Contains(said, "take the label"); told != c.told {
				t.Errorf("the log says\n%s", said)
			}
		})
	}
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

// Many that are due are cleaned up by several jobs: each costs calls.
func TestManyAreCleanedUpInTurn(t *testing.T) {
	p := open(t)
	var rows []quota.Pull
	for n := range 25 {
		rows = append(rows, quota.Pull{Number: 100 + n, Opened: long, End: quota.Closed, Ended: long})
	}
	p.book.Pulls = rows
	for i, left := range []int{5, 0} {
		if _, err := p.closes(p.pull(fmt.Sprintf("ralph/issue-%d", i))); err != nil {
			t.Fatal(err)
		}
		if due := p.book.Due(now.AddDate(0, 0, -90)); len(due) != left {
			t.Errorf("after job %d %d are due, want %d", i+1, len(due), left)
		}
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

// A head that others pushed is marked, once, and only while it is the newest.
func TestWhichHeadIsMarked(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*place, int)
		want   bool
	}{
		"a head of others":    {func(*place, int) {}, true},
		"another came since":  {func(p *place, _ int) { p.git("update-ref", "refs/heads/ralph/issue-1", p.young()) }, false},
		"it is closed by now": {func(p *place, n int) { p.EditIssue(shop, n, func(i *githubtest.Issue) { i.State = "closed" }) }, false},
		"its text names this commit": {func(p *place, n int) {
			p.EditIssue(shop, n, func(i *githubtest.Issue) {
				i.Body += "The newest commit, `" + p.first[:7] + "`, was not checked on a clean checkout.\n"
			})
		}, false},
	} {
		p := open(t)
		number := p.pull("ralph/issue-1")
		payload, err := p.PullEvent(githubtest.Event{Repo: shop, Issue: number, Sender: "ada"}, "synchronize")
		if err != nil {
			t.Fatal(err)
		}
		c.change(p, number)
		for range 2 {
			if _, err := p.job(payload); err != nil {
				t.Fatal(err)
			}
		}
		found, _ := p.Issue(shop, number)
		if marks := strings.Count(found.Body, "Not yet proven"); (marks == 1) != c.want || marks > 1 {
			t.Errorf("%s: %d notes in\n%s", name, marks, found.Body)
		}
	}
}

package main_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

// live plays the README on a repository: odd issues are labelled, a person's pull request is proven, a stranger asks.
type live struct {
	t           *testing.T
	api         *gh.Client
	owner, name string
	remote      string // its address for git
	dir         string
	token       string
	forkToken   string        // of somebody else, who may fork it; may be empty
	patience    time.Duration // for all jobs
	rows        []string
}

// liveMark is a file that only repositories for this have: their main branch is overwritten.
const liveMark = ".ralph-live"

// TestLive plays on GitHub itself. It does nothing until LIVE names a repository, as make live does.
func TestLive(t *testing.T) {
	owner, name, _ := strings.Cut(os.Getenv("LIVE"), "/")
	if name == "" {
		return
	}
	token := os.Getenv("GH_TOKEN")
	l := &live{
		t: t, api: gh.NewClient(nil).WithAuthToken(token), owner: owner, name: name, token: token, dir: t.TempDir(),
		remote:    "https://github.com/" + owner + "/" + name,
		forkToken: os.Getenv("FORK_TOKEN"), patience: 13 * time.Minute,
	}
	l.play()
}

// TestLiveIsPlayed plays on the simulated GitHub, where each label starts the job that the workflow would start.
func TestLiveIsPlayed(t *testing.T) {
	hub, _ := shopWith(t, map[string]string{"repo/" + liveMark: ""})
	const person = "ghp_adasOwnToken000000000000000000000000"
	hub.AddToken(person, githubtest.Token{Login: maintainer, Kind: githubtest.Personal})
	jobToken := githubtest.Token{Login: bot, Kind: githubtest.Job, Repos: []string{shop}, Permissions: githubtest.WriteAll()}
	jobToken.Permissions["checks"] = "write"
	hub.AddToken(token, jobToken)
	jobs := make(chan func(), len(oddIssues)+1)
	labelled := regexp.MustCompile(`/issues/(\d+)/labels$`)
	hub.visit(func(r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.Header.Get("Authorization"), person) {
			return
		}
		if found := labelled.FindStringSubmatch(r.URL.Path); found != nil {
			issue, _ := strconv.Atoi(found[1])
			jobs <- func() { playJob(t, hub, "issues", issue) }
		}
		if strings.HasSuffix(r.URL.Path, "/pulls") {
			jobs <- func() { // after the ten before it, so that GitHub has the pull request
				pulls := hub.Pulls(shop)
				i := slices.IndexFunc(pulls, func(p githubtest.Pull) bool { return p.Author == maintainer })
				playJob(t, hub, "pull_request", pulls[i].Number)
			}
		}
	})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for job := range jobs {
			job()
		}
	}()
	api := gh.NewClient(nil).WithAuthToken(person)
	api.BaseURL = &url.URL{Scheme: "http", Host: strings.TrimPrefix(hub.URL, "http://"), Path: "/api/v3/"}
	l := &live{t: t, api: api, owner: "octo", name: "greeter", token: person, dir: t.TempDir(), remote: hub.URL + "/octo/greeter", patience: patience}
	l.play()
	close(jobs)
	<-done
}

// playJob is what the workflow would start for an event.
func playJob(t *testing.T, hub *gitHub, event string, issue int) {
	t.Helper()
	var env []string
	var err error
	mode := "work"
	if event == "issues" {
		env, err = hub.label(issue, maintainer, "ralph")
	} else {
		mode = "prove"
		var payload []byte
		if payload, err = hub.PullEvent(githubtest.Event{Repo: shop, Issue: issue, Sender: maintainer}, "opened"); err == nil {
			env, err = hub.job(event, maintainer, payload)
		}
	}
	if err != nil {
		t.Error(err)
		return
	}
	cmd := exec.CommandContext(t.Context(), "ralph", "action")
	cmd.Env = append(hub.inputs(), env...)
	cmd.Env = append(cmd.Env, "INPUT_AGENT=command", "INPUT_CONFIG=ci/ralph.json", settingsKey+"=", "INPUT_MODE="+mode)
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH"), "HOME="+hub.path("runner"), quickExit, unconfined)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s of #%d: %v\n%s", event, issue, err, said)
	}
}

// oddIssues have what breaks a rendering, or what would speak to somebody if it was shown as it is.
var oddIssues = [10]string{
	"Ten cost less",
	"A | table | in <b>a title</b>",
	"`code`, *stars* and [a link](https://example.com)",
	"@octocat, see #1 and torvalds/linux#1",
	"<!-- ralph:progress --> <script>alert(1)</script>",
	"مرحبا \u202eolleh",
	"🙂 日本語 ünïcödé",
	"![picture](https://example.com/x.png)",
	strings.Repeat("long ", 40),
	"```\nfence",
}

func (l *live) play() {
	l.t.Helper()
	ctx, end := context.WithTimeout(l.t.Context(), l.patience)
	defer end()
	l.t.Setenv("GIT_CONFIG_COUNT", "1") // not an argument: others on the machine would see it
	l.t.Setenv("GIT_CONFIG_KEY_0", "http.extraHeader")
	l.t.Setenv("GIT_CONFIG_VALUE_0", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x-access-token:"+l.token)))
	l.must("the repository is prepared", l.prepare(ctx))
	var issues []int
	for _, title := range oddIssues {
		body := title + "\n\n- [ ] Ten or more cost 2 each\n"
		issue, _, err := l.api.Issues.Create(ctx, l.owner, l.name, &gh.IssueRequest{Title: new(strings.ReplaceAll(title, "\n", " ")), Body: &body})
		l.must("an issue is opened", err)
		issues = append(issues, issue.GetNumber())
		_, _, err = l.api.Issues.AddLabelsToIssue(ctx, l.owner, l.name, issue.GetNumber(), []string{"ralph"})
		l.must("the label is set", err)
	}
	proposed, err := l.propose(ctx)
	l.must("a pull request is opened", err)
	for i, issue := range issues {
		l.row(fmt.Sprintf("#%d %.20q: a pull request is ready, its text is harmless", issue, oddIssues[i]), l.outcome(ctx, issue))
	}
	l.row("a person's pull request gets the check ralph/proof", l.proven(ctx, proposed))
	l.row("a fork's pull request starts no work", l.fork(ctx))
	l.t.Logf("%s/%s\n%s", l.owner, l.name, strings.Join(l.rows, "\n"))
}

var errNotTried = errors.New("not tried")

func (l *live) row(what string, err error) {
	l.t.Helper()
	state := "ok"
	if err != nil {
		state = err.Error()
	}
	l.rows = append(l.rows, fmt.Sprintf("%-60s  %s", what, state))
	if err != nil && !errors.Is(err, errNotTried) {
		l.t.Errorf("%s: %v", what, err)
	}
}

func (l *live) must(what string, err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatalf("%s: %v", what, err)
	}
}

// liveWorkflow is a workflow that people are given, with an agent that needs no model.
func liveWorkflow(file, indent string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	workflow := string(text)
	if _, rest, ok := strings.Cut(workflow, "```yaml\n"); ok {
		workflow, _, _ = strings.Cut(rest, "```\n")
	}
	workflow = strings.NewReplacer(
		"\n"+indent, "\n",
		"agent-version: 2.1.328", "agent: command", "anthropic-api-key: ${{ secrets.ANTHROPIC_API_KEY }}", "config: ci/ralph.json",
		"setup: npm ci", `setup: "true"`, "checks: npm test", "checks: sh check.sh",
	).Replace("\n" + workflow)
	if strings.Contains(workflow, "secrets.") || !strings.Contains(workflow, "sh check.sh") {
		return "", fmt.Errorf("the workflow of %s is not what this test replaces lines of:\n%s", file, workflow)
	}
	return workflow, nil
}

func (l *live) prepare(ctx context.Context) error {
	_, _, response, err := l.api.Repositories.GetContents(ctx, l.owner, l.name, "", nil)
	isEmpty := err != nil && response != nil && response.StatusCode == http.StatusNotFound
	if _, _, _, err := l.api.Repositories.GetContents(ctx, l.owner, l.name, liveMark, nil); err != nil && !isEmpty {
		return fmt.Errorf("its main branch would be overwritten: take an empty repository, or one with the file %s", liveMark)
	}
	workflow, err := liveWorkflow("../../README.md", "   ")
	proof, unread := liveWorkflow("../../examples/ralph-proof.yml", "")
	err = errors.Join(err, unread)
	for name, text := range map[string]string{
		liveMark: "", "price.sh": "echo $(($1 * 3))\n", "tests/one.sh": "test \"$(sh price.sh 1)\" = 3\n",
		"check.sh": "for test in tests/*.sh; do sh \"$test\" || exit 1; done\n", "agent.sh": "cat >/dev/null\n" + tenAreCheaper,
		"ci/ralph.json":               `{"agent": {"command": "sh agent.sh"}, "github": {"maxRuns": 0, "maxOpenPrs": 0}}`,
		".github/workflows/ralph.yml": workflow, ".github/workflows/ralph-proof.yml": proof,
	} {
		err = errors.Join(err, write(filepath.Join(l.dir, name), []byte(text)))
	}
	if err != nil {
		return err
	}
	return l.git(ctx,
		[]string{"init", "--quiet", "--initial-branch=main", "."}, []string{"add", "--all", "--force"},
		[]string{"commit", "--quiet", "--message=Play the README"}, []string{"push", "--quiet", "--force", l.remote, "main"},
	)
}

// git carries out commands in the folder.
func (l *live) git(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		if _, err := tryGit(ctx, l.dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// outcome waits for the pull request that closes an issue to be ready, and looks at what is said.
func (l *live) outcome(ctx context.Context, issue int) error {
	closes := regexp.MustCompile(fmt.Sprintf(`\bCloses #%d\b`, issue))
	var ready *gh.PullRequest
	err := l.until(ctx, "a pull request is ready", func() (bool, error) {
		pulls, _, err := l.api.PullRequests.List(ctx, l.owner, l.name, &gh.PullRequestListOptions{ListOptions: gh.ListOptions{PerPage: 100}})
		for _, pull := range pulls {
			if closes.MatchString(pull.GetBody()) && !pull.GetDraft() {
				ready = pull
			}
		}
		return ready != nil, err
	})
	if err != nil {
		return err
	}
	return errors.Join(l.harmless(ctx, ready.GetBody()), l.said(ctx, issue))
}

// harmful is what no text of ralph may become on a page: a picture from elsewhere, a script, somebody who is told.
var harmful = regexp.MustCompile(`<script|<img [^>]*src="https?://example|class="user-mention`)

func (l *live) harmless(ctx context.Context, text string) error {
	page, _, err := l.api.Markdown.Render(ctx, text, &gh.MarkdownOptions{Mode: "gfm", Context: l.owner + "/" + l.name})
	if err == nil && harmful.MatchString(page) {
		err = fmt.Errorf("it is shown with %q", harmful.FindString(page))
	}
	return err
}

// propose opens a person's pull request, with the work that the issues ask for.
func (l *live) propose(ctx context.Context) (*gh.PullRequest, error) {
	const work = "!f() {\n" + tenAreCheaper + "}; f"
	err := l.git(ctx,
		[]string{"switch", "--quiet", "--create", "cheaper"}, []string{"-c", "alias.work=" + work, "work"},
		[]string{"push", "--quiet", "--force", l.remote, "cheaper"},
	)
	if err != nil {
		return nil, err
	}
	pull, _, err := l.api.PullRequests.Create(ctx, l.owner, l.name, &gh.NewPullRequest{Title: new("Ten are cheaper"), Head: new("cheaper"), Base: new("main")})
	return pull, err
}

func (l *live) proven(ctx context.Context, pull *gh.PullRequest) error {
	return l.until(ctx, "the check ralph/proof succeeds", func() (bool, error) {
		runs, _, err := l.api.Checks.ListCheckRunsForRef(ctx, l.owner, l.name, pull.GetHead().GetSHA(), nil)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(runs.CheckRuns, func(run *gh.CheckRun) bool {
			return run.GetName() == "ralph/proof" && run.GetConclusion() == "success"
		}), nil
	})
}

func (l *live) said(ctx context.Context, issue int) error {
	comments, _, err := l.api.Issues.ListComments(ctx, l.owner, l.name, issue, nil)
	if err != nil {
		return err
	}
	if len(comments) != 1 || !strings.Contains(comments[0].GetBody(), "Ready for review") {
		return fmt.Errorf("%d comments, want one that says Ready for review", len(comments))
	}
	return l.harmless(ctx, comments[0].GetBody())
}

// fork has a stranger open a pull request from a fork, and ask ralph to work on it.
func (l *live) fork(ctx context.Context) error {
	if l.forkToken == "" {
		return fmt.Errorf("%w: FORK_TOKEN, of somebody without write access, is not set", errNotTried)
	}
	stranger := gh.NewClient(nil).WithAuthToken(l.forkToken)
	fork, _, err := stranger.Repositories.CreateFork(ctx, l.owner, l.name, nil)
	var isUnderWay *gh.AcceptedError
	if err != nil && !errors.As(err, &isUnderWay) {
		return err
	}
	login := fork.GetOwner().GetLogin()
	change := gh.RepositoryContentFileOptions{Message: new("Change a price"), Content: []byte("echo 0\n"), Branch: new("main")}
	err = l.until(ctx, "the fork takes a commit", func() (bool, error) {
		_, _, refused := stranger.Repositories.CreateFile(ctx, login, fork.GetName(), "free.sh", &change)
		return refused == nil, nil
	})
	if err != nil {
		return err
	}
	pull, _, err := stranger.PullRequests.Create(ctx, l.owner, l.name, &gh.NewPullRequest{Title: new("Free"), Head: new(login + ":main"), Base: new("main")})
	if err != nil {
		return err
	}
	if _, _, err := stranger.Issues.CreateComment(ctx, l.owner, l.name, pull.GetNumber(), &gh.IssueComment{Body: new("/ralph")}); err != nil {
		return err
	}
	err = l.until(ctx, "the stranger's job ends", func() (bool, error) {
		runs, _, err := l.api.Actions.ListRepositoryWorkflowRuns(ctx, l.owner, l.name, &gh.ListWorkflowRunsOptions{Actor: login, Status: "completed"})
		return err == nil && runs.GetTotalCount() > 0, err
	})
	if err != nil {
		return err
	}
	comments, _, err := l.api.Issues.ListComments(ctx, l.owner, l.name, pull.GetNumber(), nil)
	for _, comment := range comments {
		if strings.Contains(comment.GetBody(), "<!-- ralph:progress -->") {
			return errors.New("ralph worked for a stranger")
		}
	}
	return err
}

// until asks GitHub until something is done.
func (l *live) until(ctx context.Context, what string, done func() (bool, error)) error {
	tick := time.NewTicker(max(l.patience/100, 100*time.Millisecond))
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited until %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}

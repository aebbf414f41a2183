package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
	"github.com/ralph-loop/ralph/templates"
)

const (
	shop       = "octo/greeter"
	maintainer = "ada"
	bot        = "github-actions[bot]"
	token      = "ghs_canaryTokenThatNobodyMaySee0000000"
)

// gitHub is a simulated GitHub with one repository, and a runner for its jobs, in one
// folder.
type gitHub struct {
	*githubtest.Server
	dir string

	ahead  atomic.Int64 // GitHub's clock, of ours: no two things happen in one second
	calls  *os.File     // where they are recorded for make contract; else nil
	mu     sync.Mutex
	visits []visitor
	broken []error
	jobs   int64
	pushes int                          // how many are refused
	why    string                       // and what is said to them
	gate   func(githubtest.Push) string // sees each push before all others, and can refuse it
	rival  func(branch string)          // somebody who pushes just before a push gets there
}

// visitor looks at requests before they are carried out.
type visitor func(*http.Request)

// newGitHub returns one whose stand-in runs until it is finished.
func newGitHub(dir string, change ...func(*githubtest.Repo)) (*gitHub, error) {
	t := &gitHub{dir: dir}
	t.Server = &githubtest.Server{Now: t.now, Git: tryGit, Temp: t.path("temp"), Attached: t.path("attached"), Overlay: t.path("overlay"), Wrap: t.seen, RefusePush: t.pushed}
	for _, name := range []string{"temp", "github", "runner", "workspace"} {
		if err := os.MkdirAll(t.path(name), 0o755); err != nil {
			return nil, err
		}
	}
	repo := githubtest.Repo{
		Owner: "octo", Name: "greeter", Dir: t.bare(),
		Roles: map[string]string{maintainer: "maintain", "wes": "write", "tria": "triage", "rea": "read"},
	}
	for _, f := range change {
		f(&repo)
	}
	t.AddRepo(repo)
	t.AddToken(token, githubtest.Token{Login: bot, Kind: githubtest.Job, Repos: []string{shop}, Permissions: githubtest.WriteAll()})
	if calls := os.Getenv("GITHUB_CALLS"); calls != "" {
		var err error
		if t.calls, err = os.CreateTemp(calls, filepath.Base(dir)+"-*"); err != nil {
			return nil, err
		}
	}
	return t, t.Start()
}

func (t *gitHub) now() time.Time { return time.Now().Add(time.Duration(t.ahead.Load())) }

func (t *gitHub) path(parts ...string) string {
	return filepath.Join(append([]string{t.dir}, parts...)...)
}
func (t *gitHub) bare() string { return t.path("github", "greeter.git") }

// visit has v see every call of the API from now on.
func (t *gitHub) visit(v visitor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.visits = append(t.visits, v)
}

// refusePush has GitHub refuse so many pushes from now on.
func (t *gitHub) refusePush(times int, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pushes, t.why = times, why
}

func (t *gitHub) pushed(push githubtest.Push) string {
	t.mu.Lock()
	rival, gate := t.rival, t.gate
	t.mu.Unlock()
	if gate != nil {
		if why := gate(push); why != "" {
			return why
		}
	}
	if branch, is := strings.CutPrefix(push.Ref, "refs/heads/"); is && rival != nil && strings.Trim(push.Old, "0") != "" {
		rival(branch)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pushes == 0 || !strings.HasPrefix(push.Ref, "refs/heads/") {
		return ""
	}
	t.pushes--
	return t.why
}

func (t *gitHub) violated(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broken = append(t.broken, err)
}

// finished ends the simulated GitHub, and tells what went wrong in it.
func (t *gitHub) finished() error {
	err := t.Close()
	if t.calls != nil {
		err = errors.Join(err, t.calls.Close())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return errors.Join(append(t.broken, err)...)
}

// seen shows each call to the visitors, and records it for make contract.
func (t *gitHub) seen(next http.Handler) http.Handler {
	looked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.mu.Lock()
		visits := t.visits
		t.mu.Unlock()
		for _, look := range visits {
			look(r)
		}
		next.ServeHTTP(w, r)
	})
	if t.calls == nil {
		return looked
	}
	return githubtest.Record(looked, t.calls)
}

// gitEnv keeps the machine's own configuration out of the tests.
func gitEnv() []string {
	return append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
}

func tryGit(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var complaint bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, gitEnv(), &complaint
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, complaint.String())
	}
	return string(out), err
}

// git asks the repository that GitHub keeps.
func (t *gitHub) git(args ...string) (string, error) {
	return tryGit(context.Background(), t.bare(), args...)
}

// publish makes the repository of what lies in dir.
func (t *gitHub) publish(dir string) error {
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "."},
		{"add", "--all"},
		{"commit", "--quiet", "--allow-empty", "--message=A beginning"},
		{"clone", "--quiet", "--bare", ".", t.bare()},
	} {
		if _, err := tryGit(context.Background(), dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// publishProject publishes the repository and the issue that lie in the folder, and
// the demo's where there are none, with its script.
func (t *gitHub) publishProject() (issue int, err error) {
	project, err := templates.Files.ReadFile("demo/project.txtar")
	if err != nil {
		return 0, err
	}
	_, settled := os.Stat(t.path("repo"))
	for _, file := range txtar.Parse(project).Files {
		if settled != nil || !strings.HasPrefix(file.Name, "repo/") {
			err = errors.Join(err, t.provide(file.Name, file.Data))
		}
	}
	script, missing := templates.Files.ReadFile("demo/script.txtar")
	text, unread := os.ReadFile(t.path("issue.md"))
	if err = errors.Join(err, missing, t.provide("script.txtar", script), unread, t.publish(t.path("repo"))); err != nil {
		return 0, err
	}
	title, body, _ := strings.Cut(string(text), "\n")
	return t.AddIssue(shop, githubtest.Issue{Title: title, Body: body, Author: maintainer}).Number, nil
}

// provide writes a file where there is none.
func (t *gitHub) provide(name string, data []byte) error {
	if _, err := os.Stat(t.path(name)); err == nil {
		return nil
	}
	return write(t.path(name), data)
}

func write(path string, data []byte) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644))
}

// job returns the environment in which the runner starts the Action for an event.
func (t *gitHub) job(event, actor string, payload []byte) ([]string, error) {
	err := write(t.path("runner", "event.json"), payload)
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		err = errors.Join(err, write(t.path("runner", name), nil))
	}
	if t.jobs > 0 { // the one before is over, unless a test says otherwise
		t.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: t.jobs, Status: "completed", Conclusion: "success"})
	}
	t.jobs++
	t.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: t.jobs, Status: "in_progress"})
	return t.Environment(githubtest.Run{
		ID: t.jobs, Repo: shop, Event: event, EventPath: t.path("runner", "event.json"), Actor: actor,
		Workspace: t.path("workspace"), Temp: t.path("runner"),
	}), err
}

// label has somebody put a label on the issue.
func (t *gitHub) label(issue int, who, label string) ([]string, error) {
	t.AddLabel(shop, issue, label)
	payload, err := t.LabelEvent(githubtest.Event{Repo: shop, Issue: issue, Sender: who}, label)
	if err != nil {
		return nil, err
	}
	return t.job("issues", who, payload)
}

// inputs returns those of the demo's workflow.
func (t *gitHub) inputs() []string {
	return []string{
		"INPUT_GITHUB-TOKEN=" + token, "INPUT_AGENT=scripted",
		"RALPH_SCRIPT=" + t.path("script.txtar"), "INPUT_CHECKS=sh check.sh",
		"INPUT_CONFIG=" + jobSettings, settingsKey + "=" + t.path("overlay", jobSettings),
		"INPUT_MAX-COST-PER-DAY=0", "SET_github.maxRuns=0", "SET_github.maxOpenPrs=0", // the scripts action-ledger-* have them
		"INPUT_SANDBOX=none", // to raise a sandbox takes a second: the scripts action-sandbox-* do
	}
}

// jobSettings is the settings file on the default branch that the demo's workflow names.
const jobSettings = "ci/hub.json"

// settingsKey names the file of GitHub in which a ralph that a test started writes the variables SET_KEY=VALUE, as
// the settings that a maintainer pushed before the job.
const settingsKey = "RALPH_TEST_SETTINGS"

func pushSettings(environ []string, file string) error {
	settings := map[string]any{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		key, is := strings.CutPrefix(name, "SET_")
		if !is || value == "" {
			continue
		}
		at := settings
		folders := strings.Split(key, ".")
		key = folders[len(folders)-1]
		for _, inner := range folders[:len(folders)-1] {
			if at[inner] == nil {
				at[inner] = map[string]any{}
			}
			at = at[inner].(map[string]any)
		}
		var parsed any
		if json.Unmarshal([]byte(value), &parsed) != nil {
			parsed = value
			if slices.Contains([]string{"flags", "allowModels", "privateHosts", "protect", "mcpConfig", "reviewers"}, key) {
				parsed = strings.Fields(value)
			}
		}
		at[key] = parsed
	}
	if len(settings) == 0 || file == "" {
		return nil
	}
	data, err := json.Marshal(settings)
	return errors.Join(err, write(file, data))
}

// progress returns the progress comments under an issue.
func (t *gitHub) progress(issue int) []githubtest.Comment {
	var ours []githubtest.Comment
	for _, comment := range t.Comments(shop, issue) {
		if strings.Contains(comment.Body, "<!-- ralph:progress -->") && comment.Author == bot {
			ours = append(ours, comment)
		}
	}
	return ours
}

// journals returns the paths of the journals in the job's workspace, the oldest
// first.
func (t *gitHub) journals() []string {
	paths, err := filepath.Glob(t.path("workspace", ".ralph", "runs", "*", "journal.jsonl"))
	if err != nil {
		return nil
	}
	return paths
}

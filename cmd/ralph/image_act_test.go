package main_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// others are the repositories of actions that a workflow uses, each with its ref.
var others = regexp.MustCompile(`uses: ([^\s/]+/[^\s/@]+)\S*(@\S+)`)

// released is the workflow of a release for a project that suggests nothing.
func released(t *testing.T) string {
	t.Helper()
	return strings.ReplaceAll(string(scaffoldedIn(t, nil, "ralph.yml", "--no-host")), "@main", "@v1")
}

// The workflow that people are given, as act does it: its guard, its inputs and
// the image, label to pull request. ACT is that program. What is not ours in the
// workflow does nothing there.
func TestImageUnderAct(t *testing.T) {
	act, image := os.Getenv("ACT"), os.Getenv("RALPH_IMAGE")
	if act == "" || image == "" {
		return
	}
	hub, server, issue := priced(t)
	env, err := hub.label(issue, maintainer, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("../../action.yml")
	if err == nil {
		err = write(hub.path("actions", "ralph", "action.yml"), []byte(strings.Replace(string(ours), "image: Dockerfile", "image: docker://"+image, 1)))
	}
	if err != nil {
		t.Fatal(err)
	}
	said := acted(t, act, hub, env, image, strings.NewReplacer(
		"make test", "sh check.sh", "        with:\n          anthropic-api-key:",
		"        with:\n          model-base-url: "+server.URL+"\n          model: "+realAgents["claude"].model+"\n          anthropic-api-key:",
	).Replace(released(t)))
	if pulls := hub.Pulls(shop); len(pulls) != 1 || pulls[0].Draft || !strings.Contains(said, "sandbox level notify") {
		t.Errorf("pull requests %+v, want one that is ready\n%s", pulls, said)
	}
	notHeld(t, said)
}

// The same on the runner itself, for which act takes this machine.
func TestHostUnderAct(t *testing.T) {
	act := os.Getenv("ACT")
	if act == "" {
		return
	}
	s := newIssueJob(t)
	ourHost(t, s.gitHub)
	said := acted(t, act, s.gitHub, s.env, "-self-hosted", strings.NewReplacer(
		"make test", "sh check.sh", "ralph-loop/ralph@v1", "ralph-loop/ralph/host@v1", "        with:\n          anthropic-api-key:",
		"        env: {RALPH_SCRIPT: "+s.path("script.txtar")+"}\n        with:\n          ralph: path\n          agent: scripted\n          sandbox: none\n          anthropic-api-key:",
	).Replace(released(t)))
	if pulls := s.Pulls(shop); len(pulls) != 1 || pulls[0].Draft {
		t.Errorf("pull requests %+v, want one that is ready\n%s", pulls, said)
	}
	notHeld(t, said)
}

// The cache that a project with dependencies is given: what setup fetched in the first
// job is there in the second, though the first agent tried to change it. actions/cache
// is its own client, which npm has, against the cache server of act.
func TestCacheUnderAct(t *testing.T) {
	act := os.Getenv("ACT")
	if act == "" {
		return
	}
	workflow := strings.NewReplacer(
		"npm test", "sh check.sh", "npm ci", "sh setup.sh", "ralph: build", "ralph: path", "          agent-version: 2.1.328 # of Claude Code: npm installs it for this job\n", "",
		"          cache: ", "          agent: command\n          config: "+jobSettings+"\n          cache: ",
	).Replace(string(scaffolded(t, "--host")))
	kept := t.TempDir()
	for _, want := range []struct{ setup, said string }{{"fetched\n", "client: saved ralph-"}, {"in the cache\n", "client: restored ralph-"}} {
		hub, issue := shopWith(t, map[string]string{
			"repo/go.sum":   "m v1\n",
			"repo/setup.sh": "if [ -e \"$GOMODCACHE/m\" ]; then echo in the cache; exit; fi\necho fetched\nmkdir -p \"$GOMODCACHE\"\necho module >\"$GOMODCACHE/m\"\n",
			"repo/agent.sh": "cat >/dev/null\n{ echo poison >\"$GOMODCACHE/m\"; echo poison >\"$CACHE/files/go-mod/m\"; echo poison >\"$CACHE/files/planted\"; } 2>/dev/null\n" + tenAreCheaper,
		})
		settingsFile(t, hub, "SET_agent.command=env CACHE="+hub.path("repo", ".ralph-cache")+" sh agent.sh")
		env, err := hub.label(issue, maintainer, "ralph")
		if err != nil {
			t.Fatal(err)
		}
		ourHost(t, hub)
		cacheClient(t, hub)
		said := acted(t, act, hub, env, "-self-hosted", workflow, "--cache-server-path", kept, "--cache-server-addr", "127.0.0.1")
		if pulls := hub.Pulls(shop); len(pulls) != 1 || pulls[0].Draft || !strings.Contains(said, want.said) {
			t.Errorf("pull requests %+v, want one that is ready, and %q\n%s", pulls, want.said, said)
		}
		for name, want := range map[string]string{".ralph/guardrail_setup_base_1_sh_setup_sh.log": want.setup, ".ralph-cache/files/go-mod/m": "module\n"} {
			if text, err := os.ReadFile(hub.path("record", name)); err != nil || string(text) != want {
				t.Errorf("%s has %q, %v, want %q", name, text, err, want)
			}
		}
		if _, err := os.Lstat(hub.path("record", ".ralph-cache", "files", "planted")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the agent planted a file: %v", err)
		}
	}
}

// ourHost has act take our action for the runner itself.
func ourHost(t *testing.T, hub *gitHub) {
	t.Helper()
	host, err := filepath.Abs("../../host")
	if err == nil {
		err = errors.Join(os.MkdirAll(hub.path("actions", "ralph"), 0o755), os.CopyFS(hub.path("actions", "ralph", "host"), os.DirFS(host)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// cacheClient has act take actions/cache/restore and actions/cache/save for calls of the
// client that they are made of: npm has that, and not the actions. What a job leaves
// goes to the folder record.
func cacheClient(t *testing.T, hub *gitHub) {
	t.Helper()
	client, err := filepath.Abs("../../tools/cache/node_modules/@actions/cache")
	err = errors.Join(err, os.Mkdir(hub.path("record"), 0o755), write(hub.path("actions", "upload-artifact", "action.yml"),
		[]byte("name: record\nruns:\n  using: composite\n  steps: [{run: cp -R .ralph .ralph-cache "+hub.path("record")+", shell: bash}]\n")))
	for name, call := range map[string]string{
		"restore": "restoreCache([env.INPUT_PATH], env.INPUT_KEY, [env['INPUT_RESTORE-KEYS']]).then(key => key && console.log('client: restored ' + key))",
		"save":    "saveCache([env.INPUT_PATH], env.INPUT_KEY).then(() => console.log('client: saved ' + env.INPUT_KEY))",
	} {
		err = errors.Join(err,
			write(hub.path("actions", "cache", name, "action.yml"), []byte("name: "+name+"\nruns: {using: node20, main: main.js}\n")),
			write(hub.path("actions", "cache", name, "main.js"), []byte("const env = process.env\nrequire('"+client+"')."+call+"\n")))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// acted has act do a workflow for the job that env tells of. Its actions are those in
// the simulated GitHub; the others do nothing.
func acted(t *testing.T, act string, hub *gitHub, env []string, platform, workflow string, more ...string) string {
	t.Helper()
	argv := append([]string{
		"issues", "--eventpath", hub.path("runner", "event.json"), "--workflows", ".github/workflows/ralph.yml",
		"--platform", "ubuntu-latest=" + platform, "--pull=false", "--network", "host", "--container-daemon-socket", "-", "--bind",
		"--secret", "ANTHROPIC_API_KEY=" + agentKey, "--secret", "GITHUB_TOKEN=" + token,
	}, more...)
	for _, used := range others.FindAllStringSubmatch(workflow, -1) {
		at := hub.path("actions", path.Base(used[1]))
		if _, err := os.Stat(at); err != nil {
			at = hub.path("idle")
		}
		argv = append(argv, "--local-repository", used[1]+used[2]+"="+at)
	}
	for _, variable := range env {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(fromGitHub, name) {
			argv = append(argv, "--env", variable)
		}
	}
	checkOut(t, hub, workflow)
	cmd := exec.CommandContext(t.Context(), act, argv...)
	cmd.Dir = hub.path("repo")
	cmd.Env = append(os.Environ(), "HOME="+hub.path("home"), quickExit)
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "Job succeeded") {
		t.Errorf("act: %v\n%s", err, said)
	}
	return string(said)
}

// fromGitHub are the variables of a job that act cannot know.
var fromGitHub = []string{"GITHUB_API_URL", "GITHUB_SERVER_URL", "GITHUB_GRAPHQL_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"}

// checkOut makes the checkout that act works in, with a workflow, and what that
// uses beside our Action: one that does nothing.
func checkOut(t *testing.T, hub *gitHub, workflow string) {
	t.Helper()
	_, err := tryGit(t.Context(), hub.path("repo"), "remote", "add", "origin", "https://github.com/"+shop)
	err = errors.Join(err,
		write(hub.path("repo", ".github", "workflows", "ralph.yml"), []byte(workflow)),
		write(hub.path("idle", "action.yml"), []byte("name: idle\nruns:\n  using: composite\n  steps: [{run: exit 0, shell: bash}]\n")),
		write(hub.path("home", ".config", "act", "actrc"), nil)) // else it asks
	if err != nil {
		t.Fatal(err)
	}
}

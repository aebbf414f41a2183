package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// others are the actions that a workflow uses.
var others = regexp.MustCompile(`uses: (\S+@\S+)`)

// The workflow that people are given, as act does it: its guard, its inputs and
// the image, label to pull request. ACT is that program. What is not ours in the
// workflow does nothing there.
func TestImageUnderAct(t *testing.T) {
	act, image := os.Getenv("ACT"), os.Getenv("RALPH_IMAGE")
	if act == "" || image == "" {
		return
	}
	town, server, issue := priced(t)
	env, err := town.label(issue, maintainer, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("../../action.yml")
	if err == nil {
		err = write(town.path("action", "action.yml"), []byte(strings.Replace(string(ours), "image: Dockerfile", "image: docker://"+image, 1)))
	}
	if err != nil {
		t.Fatal(err)
	}
	said := acted(t, act, town, env, image, strings.NewReplacer(
		"make test", "sh check.sh", "        with:\n          anthropic-api-key:",
		"        with:\n          model-base-url: "+server.URL+"\n          model: "+realAgents["claude"].model+"\n          anthropic-api-key:"))
	if pulls := town.Pulls(shop); len(pulls) != 1 || pulls[0].Draft || !strings.Contains(said, "sandbox level notify") {
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
	s := newScene(t)
	host, err := filepath.Abs("../../host")
	if err == nil {
		err = errors.Join(os.MkdirAll(s.path("action"), 0o755), os.CopyFS(s.path("action", "host"), os.DirFS(host)))
	}
	if err != nil {
		t.Fatal(err)
	}
	said := acted(t, act, s.town, s.env, "-self-hosted", strings.NewReplacer(
		"make test", "sh check.sh", "ralph-loop/ralph@v1", "ralph-loop/ralph/host@v1", "        with:\n          anthropic-api-key:",
		"        with:\n          ralph-from: path\n          agent: scripted\n          agent-args: "+s.path("script.txtar")+"\n          sandbox: none\n          anthropic-api-key:"))
	if pulls := s.Pulls(shop); len(pulls) != 1 || pulls[0].Draft {
		t.Errorf("pull requests %+v, want one that is ready\n%s", pulls, said)
	}
	notHeld(t, said)
}

// acted has act do the workflow that people are given, in other words for the
// job that env tells of.
func acted(t *testing.T, act string, town *town, env []string, platform string, words *strings.Replacer) string {
	t.Helper()
	workflow := words.Replace(string(laidOut(t, "workflows/ralph.yml")))
	argv := []string{
		"issues", "--eventpath", town.path("runner", "event.json"), "--workflows", ".github/workflows/ralph.yml",
		"--platform", "ubuntu-latest=" + platform, "--pull=false", "--network", "host", "--container-daemon-socket", "-", "--bind",
		"--secret", "ANTHROPIC_API_KEY=" + agentKey, "--secret", "GITHUB_TOKEN=" + token,
	}
	for _, used := range others.FindAllStringSubmatch(workflow, -1) {
		at, whose := town.path("idle"), used[1]
		if strings.HasPrefix(whose, "ralph-loop/ralph") {
			at, whose = town.path("action"), "ralph-loop/ralph@v1"
		}
		argv = append(argv, "--local-repository", whose+"="+at)
	}
	for _, variable := range env {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(fromGitHub, name) {
			argv = append(argv, "--env", variable)
		}
	}
	checkOut(t, town, workflow)
	cmd := exec.CommandContext(t.Context(), act, argv...)
	cmd.Dir = town.path("repo")
	cmd.Env = append(os.Environ(), "HOME="+town.path("home"), quickExit)
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
func checkOut(t *testing.T, town *town, workflow string) {
	t.Helper()
	_, err := tryGit(t.Context(), town.path("repo"), "remote", "add", "origin", "https://github.com/"+shop)
	err = errors.Join(err,
		write(town.path("repo", ".github", "workflows", "ralph.yml"), []byte(workflow)),
		write(town.path("idle", "action.yml"), []byte("name: idle\nruns:\n  using: composite\n  steps: [{run: exit 0, shell: bash}]\n")),
		write(town.path("home", ".config", "act", "actrc"), nil)) // else it asks
	if err != nil {
		t.Fatal(err)
	}
}

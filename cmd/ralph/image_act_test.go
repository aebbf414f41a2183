package main_test

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// others are the actions that a workflow uses.
var others = regexp.MustCompile(`uses: (\S+@\S+)`)

// The workflow that people are given, as act does it: its guard, its inputs and
// the image, label to pull request. ACT is that program. What is not ours in the
// workflow does nothing here.
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
	workflow := string(laidOut(t, "workflows/ralph.yml"))
	argv := []string{
		"issues", "--eventpath", town.path("runner", "event.json"), "--workflows", ".github/workflows/ralph.yml",
		"--platform", "ubuntu-latest=" + image, "--pull=false", "--network", "host", "--container-daemon-socket", "-", "--bind",
		"--secret", "ANTHROPIC_API_KEY=" + agentKey, "--secret", "GITHUB_TOKEN=" + token,
	}
	for _, used := range others.FindAllStringSubmatch(workflow, -1) {
		at := town.path("idle")
		if strings.HasPrefix(used[1], "ralph-loop/ralph@") {
			at = town.path("action")
		}
		argv = append(argv, "--local-repository", used[1]+"="+at)
	}
	for _, variable := range env {
		if name, _, _ := strings.Cut(variable, "="); slices.Contains(fromGitHub, name) {
			argv = append(argv, "--env", variable)
		}
	}
	checkOut(t, town, image, strings.NewReplacer(
		"make test", "sh check.sh", "        with:\n          anthropic-api-key:",
		"        with:\n          model-base-url: "+server.URL+"\n          model: "+realAgents["claude"].model+"\n          anthropic-api-key:",
	).Replace(workflow))
	cmd := exec.CommandContext(t.Context(), act, argv...)
	cmd.Dir = town.path("repo")
	cmd.Env = append(os.Environ(), "HOME="+town.path("home"))
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "Job succeeded") || !strings.Contains(string(said), "sandbox level notify") {
		t.Errorf("act: %v\n%s", err, said)
	}
	if pulls := town.Pulls(shop); len(pulls) != 1 || pulls[0].Draft {
		t.Errorf("pull requests %+v, want one that is ready\n%s", pulls, said)
	}
	notHeld(t, string(said))
}

// fromGitHub are the variables of a job that act cannot know.
var fromGitHub = []string{"GITHUB_API_URL", "GITHUB_SERVER_URL", "GITHUB_GRAPHQL_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"}

// checkOut makes the checkout that act works in, with a workflow, and what that
// uses: our Action with the image that there is, and one that does nothing.
func checkOut(t *testing.T, town *town, image, workflow string) {
	t.Helper()
	ours, err := os.ReadFile("../../action.yml")
	_, remote := tryGit(t.Context(), town.path("repo"), "remote", "add", "origin", "https://github.com/"+shop)
	err = errors.Join(err, remote,
		write(town.path("repo", ".github", "workflows", "ralph.yml"), []byte(workflow)),
		write(town.path("action", "action.yml"), []byte(strings.Replace(string(ours), "image: Dockerfile", "image: docker://"+image, 1))),
		write(town.path("idle", "action.yml"), []byte("name: idle\nruns:\n  using: composite\n  steps: [{run: exit 0, shell: bash}]\n")),
		write(town.path("home", ".config", "act", "actrc"), nil)) // else it asks
	if err != nil {
		t.Fatal(err)
	}
}

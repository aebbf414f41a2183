package main_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// runner is the user to whom a workspace belongs on GitHub's machines.
const runner = 1001

// The image as an action: a runner starts it the way runners do, as root with
// what stock Docker leaves it, and a label becomes a pull request that is ready.
// The agents are those in the image. Nothing is done until RALPH_IMAGE names one,
// as make container does.
func TestImageOnARunner(t *testing.T) {
	image := os.Getenv("RALPH_IMAGE")
	if image == "" {
		return
	}
	for name, key := range map[string]string{"claude": "anthropic-api-key", "codex": "openai-api-key"} {
		t.Run(name, func(t *testing.T) { labelled(t, image, name, key) })
	}
}

func labelled(t *testing.T, image, agent, key string) {
	t.Helper()
	hub, server, issue := priced(t)
	job := hired(t, hub, image, issue, map[string]string{
		"agent": agent, key: agentKey, "model-base-url": server.URL, "model": realAgents[agent].model,
		"checks": "sh check.sh", "config": settingsFile(t, hub, "SET_limits.maxIterations=2"),
	})
	said, code := job.run()
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	pulls := hub.Pulls(shop)
	if len(pulls) != 1 || pulls[0].Draft {
		t.Fatalf("pull requests %+v, want one that is ready\n%s", pulls, said)
	}
	if !strings.Contains(said, "sandbox level notify") {
		t.Errorf("not at level notify:\n%s", said)
	}
	text, err := hub.git("show", pulls[0].Head+":seen.txt")
	if want := "1500 agent\nno capabilities\n"; err != nil || text != want {
		t.Errorf("the agent saw %q, %v; want %q", text, err, want)
	}
	for _, request := range server.Work() {
		if request.Key() != agentKey {
			t.Errorf("%s came with the key %q", request.Path, request.Key())
		}
	}
	outputs, err := os.ReadFile(hub.path("runner", "GITHUB_OUTPUT"))
	if err != nil || !strings.Contains(string(outputs), "completed") || !strings.Contains(string(outputs), "\n.ralph/runs/") {
		t.Errorf("outputs %q, %v", outputs, err)
	}
	if after, code := job.run("--entrypoint", job.action.Runs.Post); code != 0 || !strings.Contains(after, "nothing to finish") {
		t.Errorf("exit %d after the job: %s", code, after)
	}
	notHeld(t, said, hub.path("runner"), hub.path("workspace"))
}

// A job that is cancelled in the middle says so itself, and for one that is
// killed the container says it that a runner starts when all is over.
func TestImageIsEnded(t *testing.T) {
	image := os.Getenv("RALPH_IMAGE")
	if image == "" {
		return
	}
	for signal, want := range map[string]struct{ itself, after string }{
		"INT": {"Cancelled, by request", "nothing to finish"}, "TERM": {"Cancelled, by request", "nothing to finish"}, "KILL": {"0 of 1 story passed", "the run was killed"},
	} {
		t.Run(signal, func(t *testing.T) {
			hub, server, issue := priced(t, modeltest.Answer{Stall: true, Times: modeltest.Always})
			job := hired(t, hub, image, issue, map[string]string{
				"anthropic-api-key": agentKey, "model-base-url": server.URL, "model": realAgents["claude"].model, "checks": "sh check.sh",
			})
			cmd := job.command("--name", "ralph-test-"+signal)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = exec.CommandContext(context.WithoutCancel(t.Context()), "docker", "rm", "--force", "ralph-test-"+signal).Run()
			})
			(&issueJob{gitHub: hub, t: t}).until("the agent asks its model", func() bool { return len(server.Work()) > 0 })
			if out, err := exec.CommandContext(t.Context(), "docker", "kill", "--signal", signal, "ralph-test-"+signal).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			_ = cmd.Wait()
			comments := hub.progress(issue)
			if len(comments) != 1 || !strings.Contains(comments[0].Body, want.itself) {
				t.Errorf("comments %+v, want one with %q", comments, want.itself)
			}
			after, code := job.run("--entrypoint", job.action.Runs.Post)
			if comments = hub.progress(issue); code != 0 || !strings.Contains(after, want.after) || !strings.Contains(comments[0].Body, "Cancelled") {
				t.Errorf("exit %d: %s\nthe comment says %s", code, after, comments[0].Body)
			}
		})
	}
}

// The image without agents runs a program of the project's own as its agent, the
// same way: make release-check builds it and names it RALPH_SMALL_IMAGE.
func TestSmallImageOnARunner(t *testing.T) {
	image := os.Getenv("RALPH_SMALL_IMAGE")
	if image == "" {
		return
	}
	hub, _, issue := priced(t)
	job := hired(t, hub, image, issue, map[string]string{
		"agent": "command", "checks": "sh check.sh",
		"config": settingsFile(t, hub, "SET_agent.command=sh agent.sh", "SET_limits.maxIterations=2"),
	})
	said, code := job.run()
	pulls := hub.Pulls(shop)
	if code != 0 || len(pulls) != 1 || pulls[0].Draft || !strings.Contains(said, "sandbox level notify") {
		t.Errorf("exit %d, pull requests %+v, want one that is ready at level notify\n%s", code, pulls, said)
	}
	if after, code := job.run("--entrypoint", job.action.Runs.Post); code != 0 || !strings.Contains(after, "nothing to finish") {
		t.Errorf("exit %d after the job: %s", code, after)
	}
}

// settingsFile pushes settings to the simulated GitHub's default branch, and returns the name of their file.
func settingsFile(t *testing.T, hub *gitHub, variables ...string) string {
	t.Helper()
	if err := pushSettings(variables, hub.path("overlay", jobSettings)); err != nil {
		t.Fatal(err)
	}
	return jobSettings
}

// tenAreCheaper is the work that the issue asks for.
const tenAreCheaper = `echo 'if [ "$1" -ge 10 ]; then echo $(($1 * 2)); else echo $(($1 * 3)); fi' > price.sh
echo 'test "$(sh price.sh 10)" = 20' > tests/ten.sh
sed -i 's/"passes": *false/"passes": true/' ralph/prd.json
git add -A && git commit -qm 'feat: ten are cheaper'
`

// priced returns a simulated GitHub with a project in it, an issue, and a model that knows what
// to do, unless it is to answer something else.
func priced(t *testing.T, answers ...modeltest.Answer) (*gitHub, *modeltest.Server, int) {
	t.Helper()
	server := modeltest.Start(t, append(answers,
		modeltest.Answer{Calls: []modeltest.Call{modeltest.Shell(`
			echo "$(id -u) $(id -un)" > seen.txt
			if grep -q '^Cap.*:.*[1-9a-f]' /proc/self/status; then echo capabilities; else echo no capabilities; fi >> seen.txt
			if [ -w /var/run/docker.sock ] || env | grep -e ^INPUT_ -e ^ACTIONS_ -e '^GITHUB_[EOPS].*='; then echo too much; fi >> seen.txt
` + tenAreCheaper)}},
		modeltest.Answer{Words: "Ten are cheaper now, and a test says so."})...)
	hub, issue := shopWith(t, map[string]string{"repo/agent.sh": "cat >/dev/null\n" + tenAreCheaper})
	return hub, server, issue
}

// shopWith returns a simulated GitHub with a project in it, more files of that, and an issue.
func shopWith(t *testing.T, more map[string]string) (*gitHub, int) {
	t.Helper()
	hub, err := newGitHub(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hub.finished(); err != nil {
			t.Error(err)
		}
	})
	files := map[string]string{
		"issue.md":          "Prices\n\n- [ ] Ten or more cost 2 each\n",
		"repo/price.sh":     "echo $(($1 * 3))\n",
		"repo/check.sh":     "for test in tests/*.sh; do sh \"$test\" || exit 1; done\n",
		"repo/tests/one.sh": "test \"$(sh price.sh 1)\" = 3\n",
	}
	maps.Copy(files, more)
	for name, text := range files {
		err = errors.Join(err, write(hub.path(name), []byte(text)))
	}
	issue, unsettled := hub.publishProject()
	if err = errors.Join(err, unsettled); err != nil {
		t.Fatal(err)
	}
	return hub, issue
}

// hiredJob is a job of a runner's that starts the image for an event.
type hiredJob struct {
	t      *testing.T
	action actionFile
	argv   []string // of docker, up to the image's name and its words
	image  string
}

// actionFile is what action.yml has a runner do.
type actionFile struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Args []string
		Post string `yaml:"post-entrypoint"`
	}
}

// hired has somebody label the issue. The network is this machine's, for GitHub
// and the model's server are on loopback.
func hired(t *testing.T, hub *gitHub, image string, issue int, given map[string]string) *hiredJob {
	t.Helper()
	env, err := hub.label(issue, maintainer, "ralph")
	if err != nil {
		t.Fatal(err)
	}
	j := &hiredJob{t: t, image: image, argv: []string{"run", "--rm", "--workdir", "/github/workspace", "--network", "host"}}
	inputs := j.inputs(given)
	for outside, at := range map[string]string{
		hub.path("workspace"): "/github/workspace", hub.path("runner"): "/github/file_commands",
		hub.path("home"): "/github/home", hub.path("event"): "/github/workflow",
		hub.path("runner_temp"): "/github/runner_temp", docker(): "/var/run/docker.sock",
	} {
		j.argv = append(j.argv, "--volume", outside+":"+at)
	}
	env = append(env, "HOME=/github/home", "ACTIONS_RUNTIME_TOKEN="+token, "ACTIONS_RUNTIME_URL="+hub.URL, "RUNNER_TOOL_CACHE=/opt/hostedtoolcache")
	inside := strings.NewReplacer(
		hub.path("runner", "event.json"), "/github/workflow/event.json",
		hub.path("runner"), "/github/file_commands", hub.path("workspace"), "/github/workspace")
	for _, variable := range append(env, inputs...) {
		j.argv = append(j.argv, "--env", inside.Replace(variable))
	}
	atHome(t, hub)
	return j
}

func (j *hiredJob) command(more ...string) *exec.Cmd {
	argv := slices.Concat(j.argv, more, []string{j.image}, j.action.Runs.Args)
	return exec.CommandContext(j.t.Context(), "docker", argv...)
}

// run starts it and waits, and gives what it printed.
func (j *hiredJob) run(more ...string) (said string, code int) {
	cmd := j.command(more...)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// atHome gives everything a runner's machine has to the runner.
func atHome(t *testing.T, hub *gitHub) {
	t.Helper()
	err := errors.Join(os.MkdirAll(hub.path("home"), 0o755), os.MkdirAll(hub.path("runner_temp"), 0o755), os.MkdirAll(hub.path("event"), 0o755),
		os.Rename(hub.path("runner", "event.json"), hub.path("event", "event.json")))
	for _, folder := range []string{"workspace", "runner", "home", "runner_temp", "event"} {
		err = errors.Join(err, filepath.WalkDir(hub.path(folder), func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, runner, runner))
		}))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// docker returns where the daemon listens: a runner hands that to every container.
func docker() string {
	if socket, is := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://"); is {
		return socket
	}
	return "/var/run/docker.sock"
}

// inputs returns the variables that a runner makes of them; missing ones are as in
// action.yml.
func (j *hiredJob) inputs(given map[string]string) (inputs []string) {
	j.t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &j.action)
	}
	if err != nil {
		j.t.Fatal(err)
	}
	for name, input := range j.action.Inputs {
		value := strings.ReplaceAll(input.Default, "${{ github.token }}", token)
		if own, is := given[name]; is {
			value = own
		}
		inputs = append(inputs, "INPUT_"+strings.ToUpper(name)+"="+value)
	}
	return inputs
}

// notHeld fails where a secret was printed or lies in a folder.
func notHeld(t *testing.T, said string, folders ...string) {
	t.Helper()
	for _, secret := range []string{token, agentKey} {
		for line := range strings.Lines(said) {
			if strings.Contains(line, secret) && !strings.HasPrefix(line, "::add-mask::") {
				t.Errorf("it printed a secret: %s", line)
			}
		}
		for _, folder := range folders {
			err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || !entry.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(path)
				if strings.Contains(string(data), secret) {
					err = errors.Join(err, errors.New(path+" holds a secret"))
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

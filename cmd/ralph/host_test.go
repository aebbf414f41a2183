package main_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// offered is what an action's file says of it.
type offered struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Steps []hostStep
	}
}

type hostStep struct {
	ID, If, Shell, Run string
	Env                map[string]string
}

func offeredBy(t *testing.T, path string) offered {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var action offered
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	return action
}

// The Action on the runner itself has all that the one in a container has, word
// for word, and beside that only where its program comes from.
func TestHostOffersTheSame(t *testing.T) {
	container, host := offeredBy(t, "../../action.yml"), offeredBy(t, "../../host/action.yml")
	delete(host.Inputs, "ralph")
	if diff := cmp.Diff(container.Inputs, host.Inputs); diff != "" {
		t.Errorf("inputs of host/action.yml (-action.yml +host/action.yml):\n%s", diff)
	}
	for name, output := range host.Outputs {
		if want := "${{ steps.work.outputs." + name + " }}"; output.Value != want {
			t.Errorf("the output %s is %q, want %q", name, output.Value, want)
		}
		output.Value = ""
		host.Outputs[name] = output
	}
	if diff := cmp.Diff(container.Outputs, host.Outputs); diff != "" {
		t.Errorf("outputs of host/action.yml (-action.yml +host/action.yml):\n%s", diff)
	}
}

// hostJob is a runner that does the steps of host/action.yml.
type hostJob struct {
	*issueJob
	action offered
	given  map[string]string // inputs
	known  map[string]string // what expressions come to
}

func newHostJob(t *testing.T, change ...func(*issueJob)) *hostJob {
	t.Helper()
	j := &hostJob{issueJob: newIssueJob(t, change...), action: offeredBy(t, "../../host/action.yml"), known: map[string]string{}}
	j.given = map[string]string{
		"github-token": token, "agent": "scripted", "checks": "sh check.sh", "sandbox": "none", "ralph": "path",
	}
	all := map[string]string{}
	for name, input := range j.action.Inputs {
		all[name] = input.Default
	}
	maps.Copy(all, j.given)
	for name, value := range all {
		j.known["inputs."+name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	j.known["toJSON(inputs)"] = string(text)
	j.known["github.action_repository"] = ""
	// A step has no variable for an input.
	j.env = slices.DeleteFunc(j.env, func(variable string) bool { return strings.HasPrefix(variable, "INPUT_") })
	return j
}

// step starts one and gives what it printed, and how it ended.
func (j *hostJob) step(i int) (said string, code int) {
	j.t.Helper()
	cmd := j.command(i)
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// command is a step as the runner starts it.
func (j *hostJob) command(i int, env ...string) *exec.Cmd {
	j.t.Helper()
	step := j.action.Runs.Steps[i]
	home, err := filepath.Abs("../../host")
	if err != nil {
		j.t.Fatal(err)
	}
	if step.Shell != "sh" {
		j.t.Fatalf("step %d has the shell %q", i, step.Shell)
	}
	cmd := exec.CommandContext(j.t.Context(), "sh", "-e", "-c", step.Run)
	cmd.Dir = j.path("workspace")
	cmd.Env = slices.Concat(j.env, env, []string{"GITHUB_ACTION_PATH=" + home})
	for name, value := range step.Env {
		expression := strings.TrimSuffix(strings.TrimPrefix(value, "${{ "), " }}")
		value, known := j.known[expression]
		if !known {
			j.t.Fatalf("step %d asks for %s, which this test does not know", i, expression)
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

// got has the first step find the program, for those that come after.
func (j *hostJob) got() {
	j.t.Helper()
	if said, code := j.step(0); code != 0 {
		j.t.Fatalf("exit %d: %s", code, said)
	}
	outputs, err := os.ReadFile(j.path("runner", "GITHUB_OUTPUT"))
	program, is := strings.CutPrefix(strings.TrimSpace(string(outputs)), "program=")
	if err != nil || !is {
		j.t.Fatalf("the output is %q, %v", outputs, err)
	}
	j.known["steps.program.outputs.program"] = program
}

// The steps of host/action.yml, one by one, make a pull request of an issue.
func TestHostMakesAPullRequest(t *testing.T) {
	t.Parallel()
	j := newHostJob(t)
	j.got()
	if said, code := j.step(1); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	j.settled()
	if said, code := j.step(2); code != 0 || !strings.Contains(said, "nothing to finish") {
		t.Errorf("exit %d: %s", code, said)
	}
	if said, code := j.step(3); code != 0 {
		t.Errorf("exit %d: %s", code, said)
	}
}

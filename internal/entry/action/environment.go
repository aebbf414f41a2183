package action

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// environment has the variables of a job. Those that are read more than once have a name.
type environment struct {
	get        func(string) string
	eventName  string
	eventPath  string
	serverURL  string
	repository string
	workspace  string
	job        int64 // GITHUB_RUN_ID; 0: none
}

func readEnvironment(getenv func(string) string) environment {
	job, _ := strconv.ParseInt(getenv("GITHUB_RUN_ID"), 10, 64)
	return environment{
		get:        getenv,
		eventName:  getenv("GITHUB_EVENT_NAME"),
		eventPath:  getenv("GITHUB_EVENT_PATH"),
		serverURL:  getenv("GITHUB_SERVER_URL"),
		repository: getenv("GITHUB_REPOSITORY"),
		workspace:  getenv("GITHUB_WORKSPACE"),
		job:        job,
	}
}

// neededVariables are the variables without which there is no job.
var neededVariables = []string{"GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY", "GITHUB_WORKSPACE"}

func (e environment) check() error {
	var missing []string
	for _, name := range neededVariables {
		if e.get(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fault.Usage("not a GitHub job: "+strings.Join(missing, ", ")+" not set",
			"use it as a step of a workflow; `ralph demo` shows it on this machine", nil)
	}
	return nil
}

// folder returns ralph's own folder in the workspace.
func (e environment) folder() workspace.Folder {
	return workspace.Folder{
		Path:     filepath.Join(e.workspace, ".ralph"),
		StateDir: workspace.UserStateDir(e.get("HOME")),
	}
}

func (e environment) repo() string { return e.serverURL + "/" + e.repository }

// clone never uses an address of the event.
func (e environment) clone() string { return strings.TrimSuffix(e.repo(), "/") + ".git" }

func (e environment) log() string { return e.logOf(e.job) }

func (e environment) logOf(job int64) string {
	if job == 0 {
		return ""
	}
	return fmt.Sprintf("%s/actions/runs/%d", e.repo(), job)
}

// path is where programs outside of the sandbox are found: not in the workspace, which may hold a pull request's.
func (e environment) path() string {
	return process.PathOutside(e.get("PATH"), []string{e.workspace})
}

// inWorkspace makes a path relative: later steps do not see the paths of a container.
func (e environment) inWorkspace(path string) string {
	if rel, err := filepath.Rel(e.workspace, path); err == nil && filepath.IsAbs(path) {
		return filepath.ToSlash(rel)
	}
	return path
}

// forAgent returns the variables of an agent and of the checks.
func (e environment) forAgent(vars ...string) []string {
	return append(environ.Job(e.get, vars...), environ.Mirrors(e.get)...)
}

// toolVariables name where tools are, and nothing else of the runner.
var toolVariables = []string{"PATH", "HOME", "GOROOT", "RUSTUP_HOME", "RUNNER_TOOL_CACHE", "AGENT_TOOLSDIRECTORY"}

func (e environment) tools() []string {
	var env []string
	for _, name := range toolVariables {
		if value := e.get(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// image identifies the kind of runner.
func (e environment) image() []string {
	var all []string
	for _, name := range []string{"ImageOS", "ImageVersion", "RUNNER_OS", "RUNNER_ARCH"} {
		all = append(all, e.get(name))
	}
	return all
}

// runnerFolders returns the runner's folders. A file of its installation marks them.
func (e environment) runnerFolders() []string {
	temp := e.get("RUNNER_TEMP")
	all := []string{temp, e.get("RUNNER_WORKSPACE"), filepath.Dir(e.eventPath)}
	for dir := temp; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".runner")); err == nil {
			all = append(all, dir)
		}
	}
	return all
}

// Inputs returns the names of the inputs in an environment.
func Inputs(environ []string) []string {
	var names []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if input, ok := strings.CutPrefix(name, "INPUT_"); ok {
			names = append(names, input)
		}
	}
	return names
}

// handedInputs names the inputs as one JSON object, for the Action on the runner itself: its
// steps have no variable for each input, and shells drop names with a dash.
const handedInputs = "RALPH_INPUTS"

// Handed returns the environment of a job with those inputs in it.
func Handed(getenv func(string) string) (func(string) string, error) {
	text := getenv(handedInputs)
	if text == "" {
		return getenv, nil
	}
	var inputs map[string]string
	if err := json.Unmarshal([]byte(text), &inputs); err != nil {
		return nil, fault.Usage("cannot read the inputs in "+handedInputs, "set it to ${{ toJSON(inputs) }}", err)
	}
	named := map[string]string{}
	for name, value := range inputs {
		named["INPUT_"+strings.ToUpper(name)] = value
	}
	return func(name string) string { return cmp.Or(named[name], getenv(name)) }, nil
}

package action

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/agent/mcp"
	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// environment has the variables of a job that are read more than once.
type environment struct {
	EventName, EventPath  string
	ServerURL, Repository string
	Workspace             string
	Job                   int64 // GITHUB_RUN_ID; 0: none
}

func readEnvironment(getenv func(string) string) environment {
	job, _ := strconv.ParseInt(getenv("GITHUB_RUN_ID"), 10, 64)
	return environment{
		EventName:  getenv("GITHUB_EVENT_NAME"),
		EventPath:  getenv("GITHUB_EVENT_PATH"),
		ServerURL:  getenv("GITHUB_SERVER_URL"),
		Repository: getenv("GITHUB_REPOSITORY"),
		Workspace:  getenv("GITHUB_WORKSPACE"),
		Job:        job,
	}
}

// neededVariables are the variables without which there is no job.
var neededVariables = []string{"GITHUB_EVENT_NAME", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY", "GITHUB_WORKSPACE"}

func (h *event) checkEnvironment() error {
	var missing []string
	for _, name := range neededVariables {
		if h.Getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fault.Usage("not a GitHub job: "+strings.Join(missing, ", ")+" not set",
			"use it as a step of a workflow; `ralph demo` shows it on this machine", nil)
	}
	return nil
}

func (e environment) folder() string { return filepath.Join(e.Workspace, ".ralph") }

func (e environment) repo() string { return e.ServerURL + "/" + e.Repository }

func (e environment) log() string { return e.logOf(e.Job) }

func (e environment) logOf(job int64) string {
	if job == 0 {
		return ""
	}
	return fmt.Sprintf("%s/actions/runs/%d", e.repo(), job)
}

// say writes lines to the log; none for an empty text. It hides secrets, and lets nothing command the runner.
func (h *event) say(text string) {
	for line := range strings.Lines(h.secrets.String(text)) {
		fmt.Fprintln(h.Out, clean.LogLine(strings.TrimSuffix(line, "\n")))
	}
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

var validVersion = pattern.Of(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)

const npmTimeout = 10 * time.Minute

// install installs the wanted version of the agent. npm gets no token and no model's key.
func (h *machine) install(ctx context.Context) error {
	version := h.inputs.AgentVersion
	if version == "" {
		return nil
	}
	adapter, err := agent.Pick(h.inputs.AgentName, h.options())
	if err != nil {
		return err
	}
	if adapter.Package == "" {
		return fault.Usage("agent-version has no effect: npm has no package of the agent "+adapter.Name,
			"remove agent-version", nil)
	}
	if !validVersion.MatchString(version) {
		return fault.Usage(fmt.Sprintf("agent-version: %q is not a version", version),
			"use a version of npm, such as "+cmp.Or(adapter.Tested, "1.2.3"), nil)
	}
	temp := h.Getenv("RUNNER_TEMP")
	if temp == "" { // one that others can write to is no place for a program
		if temp, err = os.MkdirTemp("", "ralph-agent-"); err != nil {
			return err
		}
	}
	npmPackage := adapter.Package + "@" + version
	dir := filepath.Join(temp, "ralph-agent", adapter.Name+"-"+version)
	program := filepath.Join(dir, "node_modules", ".bin", adapter.Program)
	if _, err := os.Stat(program); err == nil {
		h.inputs.Agent.Command = program
		return nil
	}
	h.say("installing " + npmPackage)
	if err := h.npm(ctx, dir, npmPackage); err != nil {
		return fault.Usage("cannot install "+npmPackage,
			"check that npm is on PATH, that this version exists and that this machine reaches npm's registry; "+
				"or remove agent-version", err)
	}
	if _, err := os.Stat(program); err != nil {
		return fault.Usage(npmPackage+" has no program "+adapter.Program, "give another agent-version", err)
	}
	h.inputs.Agent.Command = program
	return nil
}

func (h *machine) npm(ctx context.Context, dir, npmPackage string) error {
	begun := dir + ".begun" // an installation that was interrupted is no program
	if err := untrusted.RemoveAll(begun); err != nil {
		return err
	}
	if err := os.MkdirAll(begun, 0o755); err != nil {
		return err
	}
	env := h.agentEnv("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS")
	// Not in the home: there a later npm that is not root could not write any more.
	cache := filepath.Join(filepath.Dir(dir), "npm")
	env = environ.Merge(env, []string{"npm_config_cache=" + cache, "PATH=" + h.path()})
	if network := h.inputs.Sandbox.Network; network.Bundle != "" {
		env = append(env, "NODE_EXTRA_CA_CERTS="+network.Bundle)
	}
	output := &process.Tail{N: 4 << 10}
	ended, err := h.Exec(ctx, process.Command{
		Argv: []string{
			"npm", "install", "--prefix", begun, "--no-save", "--no-audit", "--no-fund", "--no-package-lock",
			"--loglevel=error", "--", npmPackage,
		},
		Dir:     begun,
		Env:     env,
		Stdout:  output,
		Stderr:  output,
		Timeout: npmTimeout,
	})
	if err != nil {
		return err
	}
	if ended.TimedOut {
		return errors.New("npm took too long")
	}
	if ended.Exit != 0 {
		return fmt.Errorf("npm: exit %d: %s", ended.Exit, output)
	}
	return os.Rename(begun, dir)
}

// applySettings applies the settings of the base branch, never of the work.
func (h *handler) applySettings(ctx context.Context) error {
	if !h.command.Verb.UsesAgent() {
		return nil
	}
	base, _, err := h.place()
	if err != nil {
		return nil //nolint:nilerr // it is answered when the run is to begin
	}
	if plan.MayBeForm(h.task) {
		if h.forms, err = h.client.Forms(ctx, base); err != nil {
			return err
		}
	}
	if err := h.allowServers(ctx, base); err != nil {
		return err
	}
	if h.inputs.Config != "" {
		return nil
	}
	const name = workspace.SettingsFile
	text, found, err := h.client.File(ctx, base, name)
	if err != nil || !found {
		return err
	}
	settings, err := config.ReadSettings(config.File{Name: name + " on " + base, Data: text})
	if err != nil {
		return err
	}
	for _, key := range settings.ApplyToInputs(&h.inputs) {
		h.addNotice(key+" has no effect in "+name, "name the file in the workflow: `config: "+name+"`")
	}
	return nil
}

// applyNamedSettings applies the settings file that the workflow names, as it is on the default branch.
func (h *handler) applyNamedSettings(ctx context.Context) error {
	name := h.inputs.Config
	if name == "" {
		return nil
	}
	if err := h.connect(); err != nil {
		return err
	}
	text, found, err := h.client.File(ctx, "", name)
	if err != nil {
		return err
	}
	if !found {
		return fault.Usage("there is no "+name+" on the default branch",
			"correct the input config, or push that file", nil)
	}
	return h.applyNamed(name, text)
}

func (h *event) applyNamed(name string, text []byte) error {
	settings, err := config.ReadSettings(config.File{Name: name, Data: text})
	if err != nil {
		return err
	}
	loosened, err := settings.ApplyNamed(&h.inputs)
	if err != nil {
		return fault.Usage("cannot use "+name, "correct it on the default branch", err)
	}
	for _, line := range loosened {
		h.say(name + " sets " + line)
	}
	h.inputs.Rules.BranchPrefix = h.inputs.BranchPrefix
	return nil
}

func (h *handler) allowServers(ctx context.Context, base string) error {
	if len(h.inputs.MCP) == 0 {
		return nil
	}
	name := h.inputs.MCP[0]
	text, found, err := h.client.File(ctx, base, name)
	if err != nil {
		return err
	}
	if !found {
		return fault.Usage("there is no "+name+" on "+base,
			"correct github.mcpConfig in "+h.inputs.Config+", or push that file", nil)
	}
	unusable := func(err error) error {
		return fault.Usage("cannot use github.mcpConfig of "+h.inputs.Config, "correct it, or "+name+" on "+base, err)
	}
	servers, err := mcp.Read(text, h.inputs.MCP[1:])
	if err != nil {
		return unusable(err)
	}
	flags, err := servers.Flags(agent.NameOf(h.inputs.AgentName, h.inputs.Agent.Command))
	if err != nil {
		return unusable(err)
	}
	h.inputs.Agent.Args = append(flags, h.inputs.Agent.Args...)
	h.inputs.Agent.Servers = servers
	return nil
}

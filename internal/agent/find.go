package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
)

// Locate finds the agent's program in an environment, or says what to do about it.
// It starts nothing.
func (a Adapter) Locate(env []string, dir string) (string, error) {
	path, err := process.LookUp(a.Program, dir, env)
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if err == nil {
		return a.unwrapped(path), nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", fault.Usage("the agent "+a.Program+" cannot be run", process.Remedy(a.Program, err), err)
	}
	what := fmt.Sprintf("no agent named %q on PATH", a.Program)
	if strings.Contains(a.Program, "/") {
		what = fmt.Sprintf("no agent at %s", a.Program)
	}
	return "", fault.Usage(what, a.Remedy()+", or choose another agent: --agent NAME (in a workflow: input agent)", nil)
}

// unwrapped is the program that a wrapper at path starts, or path where there is
// no wrapper or not one such program: of two, the wrapper knows which C library is here.
func (a Adapter) unwrapped(path string) string {
	script, err := filepath.EvalSymlinks(path)
	if err != nil || a.Wrapper == "" || filepath.Base(script) != a.Wrapper {
		return path
	}
	var found []string
	for _, program := range a.Wrapped[runtime.GOOS+"/"+runtime.GOARCH] {
		if path, err := process.LookUp(filepath.Join(filepath.Dir(script), program), "", nil); err == nil {
			found = append(found, path)
		}
	}
	if len(found) != 1 {
		return path
	}
	return found[0]
}

// versionSaid is a version as all the CLIs have it, with what may follow it:
// "2.1.328 (Claude Code)", "codex-cli 0.169.0", "0.0.1763-g1a2b3c".
var versionSaid = pattern.Of(`(?:^|[\sv@/])(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z][0-9A-Za-z.+-]*[0-9A-Za-z])?)`)

// ReadVersion finds the version in what a program prints when it is asked by
// its adapter's Version; known is false where there is none.
func ReadVersion(printed string) (version string, known bool) {
	m := versionSaid.FindStringSubmatch(head(printed, maxOutput))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// DockerImage is what a Docker sandbox is made from; plugin/sandbox builds it.
const DockerImage = "dclaude:latest"

// Docker has the agent run in a Docker sandbox: a machine of its own, which has
// the folder of the work and that of the logins where they are here.
type Docker struct {
	State string        // where the logins of all sandboxes lie
	Pause time.Duration // until the files are the same on both sides
}

// within has Claude Code run in a Docker sandbox. That takes the prompt as an
// argument, and has neither our keys nor our hooks: it has a login of its own,
// and its entrypoint skips the permissions.
func (d Docker) within(a Adapter, flags []string) Adapter {
	return Adapter{
		Name:    a.Name,
		Program: "docker",
		Install: "install Docker Desktop 4.58 or later",
		Notes:   a.Notes,
		Vars:    []string{"DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST"},
		Argv: func(order Order) []string {
			prompt := order.Prompt
			if strings.HasPrefix(prompt, "-") { // it is no flag
				prompt = "\n" + prompt
			}
			argv := []string{"docker", "sandbox", "run", "-t", DockerImage, "claude", order.Dir, d.State, "--", "-p", prompt}
			return slices.Concat(argv, claudeFormat, claudeSources, claudeModel(order), flags)
		},
		Env:       func(Order) []string { return nil },
		Stdin:     func(Order) string { return "" },
		Decoder:   a.Decoder,
		Speaks:    a.Speaks,
		Reports:   a.Reports,
		MaxPrompt: maxArgument - 2, // a zero ends it, and a line may begin it
		Settle:    d.Pause,
	}
}

func undockered(name string) error {
	return fault.Usage("a Docker sandbox is for the agent claude, and this one is "+name,
		"use ralph's own sandbox: --sandbox", nil)
}

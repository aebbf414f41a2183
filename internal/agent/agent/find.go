package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Locate finds the agent's program on the PATH of an environment. It starts nothing.
func (a Adapter) Locate(env []string, dir string) (string, error) {
	path, err := process.LookUp(a.Program, dir, env)
	if err == nil {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, nil
	}
	if errors.Is(err, fs.ErrPermission) {
		return "", fault.Usage("the agent "+a.Program+" cannot be run", process.Remedy(a.Program, err), err)
	}
	if a.Missing != "" {
		return "", fault.Usage(a.Missing, a.Install, nil)
	}
	what := fmt.Sprintf("no agent named %q on PATH", a.Program)
	if strings.Contains(a.Program, "/") {
		what = fmt.Sprintf("no agent at %s", a.Program)
	}
	choose := ", or choose another agent: --agent NAME"
	if a.InJob {
		choose = ", or choose another agent with the input `agent`"
	}
	return "", fault.Usage(what, a.InstallHint()+choose, nil)
}

// versionPattern matches a version that a CLI prints: "2.1.328 (Claude Code)", "codex-cli 0.169.0", "0.0.1763-g1a2b3c".
var versionPattern = pattern.Of(`(?:^|[\sv@/])(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z][0-9A-Za-z.+-]*[0-9A-Za-z])?)`)

// ReadVersion finds the version in the output of Adapter.Version.
func ReadVersion(printed string) (version string, known bool) {
	m := versionPattern.FindStringSubmatch(truncate(printed, maxOutput))
	if m == nil {
		return "", false
	}
	return m[1], true
}

// DockerImage is the image of the Docker sandbox; plugin/sandbox builds it.
const DockerImage = "dclaude:latest"

// Docker is a virtual machine with the working directory and the logins at the same paths.
type Docker struct {
	State string        // folder with the logins of all sandboxes
	Pause time.Duration // until files are synchronized
	SBX   bool          // by sbx, which replaces docker sandbox and keeps the login itself
}

// wrap runs Claude Code in the Docker sandbox. The prompt is an argument there. The sandbox has a login of its own and
// neither ralph's keys nor its hooks; its entrypoint skips the permissions.
func (d Docker) wrap(a Adapter, flags []string) Adapter {
	program := "docker"
	if d.SBX {
		program = "sbx"
	}
	return Adapter{
		Program: program,
		Install: "install Docker's sbx, or Docker Desktop 4.58 or later, which confines an agent on macOS, " +
			"or give --no-sandbox",
		Missing: "no Docker sandbox: docker is not installed",
		Notes:   a.Notes,
		Vars:    []string{"DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_HOST"},
		Argv: func(order Order) []string {
			prompt := order.Prompt
			if strings.HasPrefix(prompt, "-") { // not a flag
				prompt = "\n" + prompt
			}
			start := append(d.runArgv(order.Dir), "-p", prompt)
			return slices.Concat(start, claudeFormat, claudeSources, claudeModel(order), flags)
		},
		Env:   func(Order) []string { return nil },
		Stdin: func(Order) string { return "" },
		Decoder: func(order Order) Decoder {
			order.Env = []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(d.State, ".claude")}
			return a.Decoder(order)
		},
		ReportsUsage: a.ReportsUsage,
		MaxPrompt:    maxArgument - 2, // for the final zero byte and a newline before it
		SyncDelay:    d.Pause,
	}
}

// runArgv returns what starts Claude Code in the sandbox. After --, sbx replaces its own flags, which skip the
// permissions.
func (d Docker) runArgv(dir string) []string {
	if d.SBX {
		return []string{"sbx", "run", "claude", dir, "--", "--dangerously-skip-permissions"}
	}
	return []string{"docker", "sandbox", "run", "-t", DockerImage, "claude", dir, d.State, "--"}
}

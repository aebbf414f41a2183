package action

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// install installs the wanted version of the agent. npm gets no token and no model's key.
func (m *machine) install(ctx context.Context) error {
	version := m.inputs.AgentVersion
	if version == "" {
		return nil
	}
	adapter, err := agent.Pick(m.inputs.AgentName, m.agentOptions())
	if err != nil {
		return err
	}
	if adapter.Package == "" {
		return fault.Usage("agent-version has no effect: npm has no package of the agent "+adapter.Name,
			"remove agent-version", nil)
	}
	// The runner empties its folder for each job.
	dir, err := os.MkdirTemp(m.env.get("RUNNER_TEMP"), "ralph-agent-")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the agent is another user
		return err
	}
	npmPackage := adapter.Package + "@" + version
	m.log.say("installing " + npmPackage)
	if err := m.npm(ctx, dir, npmPackage); err != nil {
		return fault.Usage("cannot install "+npmPackage,
			"check that npm is on PATH, that this version exists and that this machine reaches npm's registry; "+
				"or remove agent-version", err)
	}
	program := filepath.Join(dir, "node_modules", ".bin", adapter.Program)
	if _, err := os.Stat(program); err != nil {
		return fault.Usage(npmPackage+" has no program "+adapter.Program, "give another agent-version", err)
	}
	m.inputs.Agent.Command = program
	return nil
}

const npmTimeout = 10 * time.Minute

func (m *machine) npm(ctx context.Context, dir, npmPackage string) error {
	env := m.env.forAgent("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS")
	// Not in the home: there a later npm that is not root could not write any more.
	cache := filepath.Join(dir, "npm")
	env = environ.Merge(env, []string{"npm_config_cache=" + cache, "PATH=" + m.env.path()})
	if network := m.inputs.Sandbox.Network; network.Bundle != "" {
		env = append(env, "NODE_EXTRA_CA_CERTS="+network.Bundle)
	}
	output := &process.Tail{N: 4 << 10}
	ended, err := m.exec(ctx, process.Command{
		Argv: []string{
			"npm", "install", "--prefix", dir, "--no-save", "--no-audit", "--no-fund", "--no-package-lock",
			"--loglevel=error", "--", npmPackage,
		},
		Dir:     dir,
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
	return nil
}

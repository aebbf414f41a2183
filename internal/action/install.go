package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// versions are what npm takes for one, or for a name of one.
var versions = pattern.Of(`^[0-9A-Za-z][0-9A-Za-z.+-]*$`)

// patient is how long npm may take.
const patient = 10 * time.Minute

// install has npm lay down the version of the agent that is wanted, and none
// other is looked for. Neither a token nor a model's key is in npm's
// environment.
func (v *visit) install(ctx context.Context) error {
	version := v.inputs.AgentVersion
	if version == "" {
		return nil
	}
	adapter, err := agent.Pick(v.inputs.AgentName, v.options())
	switch {
	case err != nil:
		return err
	case v.inputs.Agent.Command != "" || adapter.Package == "":
		return fault.Usage("agent-version is of no use here: "+adapter.Name+" is the program that you named", "take it out, or take out agent-command", nil)
	case !versions.MatchString(version):
		return fault.Usage(fmt.Sprintf("agent-version: %q is no version", version), "give one as npm has it, such as "+cmp.Or(adapter.Tested, "1.2.3"), nil)
	}
	temp := v.Getenv("RUNNER_TEMP")
	if temp == "" { // one that others can write to is no place for a program
		if temp, err = os.MkdirTemp("", "ralph-agent-"); err != nil {
			return err
		}
	}
	dir := filepath.Join(temp, "ralph-agent", adapter.Name+"-"+version)
	program := filepath.Join(dir, "node_modules", ".bin", adapter.Program)
	if _, err := os.Stat(program); err == nil {
		v.inputs.Agent.Command = program
		return nil
	}
	v.say("installing " + adapter.Package + "@" + version)
	if err := v.npm(ctx, dir, adapter.Package+"@"+version); err != nil {
		return fault.Usage("cannot install "+adapter.Package+"@"+version,
			"see that npm is on PATH, that this version is there, and that this machine reaches where packages come from; or leave agent-version out", err)
	}
	if _, err := os.Stat(program); err != nil {
		return fault.Usage(adapter.Package+"@"+version+" has no program "+adapter.Program, "give another agent-version", err)
	}
	v.inputs.Agent.Command = program
	return nil
}

func (v *visit) npm(ctx context.Context, dir, what string) error {
	begun := dir + ".begun" // one that was broken off is no program
	if err := errors.Join(untrusted.RemoveAll(begun), os.MkdirAll(begun, 0o755)); err != nil {
		return err
	}
	env := v.agentEnv("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS")
	// Not in the home: there a later npm that is not root could not write any more.
	env = append(env, "npm_config_cache="+filepath.Join(filepath.Dir(dir), "npm"))
	if network := v.network(); network.Upstream != "" {
		env = append(env, "HTTPS_PROXY="+network.Upstream)
	}
	if network := v.network(); network.Bundle != "" {
		env = append(env, "NODE_EXTRA_CA_CERTS="+network.Bundle)
	}
	said := &process.Tail{N: 4 << 10}
	done, err := v.Exec(ctx, process.Command{
		Argv: []string{"npm", "install", "--prefix", begun, "--no-save", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error", "--", what},
		Dir:  begun, Env: env, Stdout: said, Stderr: said, Timeout: patient,
	})
	switch {
	case err != nil:
		return err
	case done.TimedOut:
		return errors.New("npm took too long")
	case done.Exit != 0:
		return fmt.Errorf("npm: exit %d: %s", done.Exit, said)
	}
	return os.Rename(begun, dir)
}

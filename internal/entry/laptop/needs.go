package laptop

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/box/confine"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/entry/config"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/environ"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/proof/checkout"
)

// Reach are flags for what a command in the sandbox needs besides files.
type Reach struct {
	Service  []string `placeholder:"ADDRESS" help:"Server that the sandbox lets through, at its port of 127.0.0.1: a port of this machine, or host:port of one nearby. Repeatable."`
	CheckEnv []string `sep:"none" placeholder:"NAME=VALUE" help:"Variable for the checks and the agent. Repeatable."`
}

// Secrecy is the flag for what the checks of clean checkouts need besides.
type Secrecy struct {
	CheckSecret []string `placeholder:"NAME" help:"Variable of your environment for checks on clean checkouts alone; its value is hidden in all output. Repeatable."`
}

// Needs returns those of the flags, with those of the settings.
func (w World) Needs(s config.Settings, r Reach, secret Secrecy) (confine.Needs, error) {
	var n confine.Needs
	var err error
	if n.Services, err = egress.ParseServices(slices.Concat(s.Services, r.Service)); err != nil {
		return n, err
	}
	n.Env = slices.Concat(s.CheckEnv, r.CheckEnv)
	if err := environ.CheckLines(n.Env, environ.CheckVariable); err != nil {
		return n, fault.Usage("cannot use the variables for checks",
			"correct --check-env, or checkEnv of the settings", err)
	}
	for _, name := range slices.Concat(s.CheckSecrets, secret.CheckSecret) {
		line := name + "=" + w.Getenv(name)
		if err := environ.CheckSecret(line); err != nil {
			return n, fault.Usage("cannot use the variable of --check-secret, or of checkSecrets in the settings",
				fmt.Sprintf("set the variable %.40s", name), err)
		}
		n.Secrets = append(n.Secrets, line)
	}
	return n, nil
}

// keptBaselines returns where the results of checks at a base are kept for a day; the zero value: nowhere.
func (w World) keptBaselines(sb *confine.Sandbox, needs confine.Needs, allow []string) checkout.Kept {
	if sb == nil { // what is proven could write there
		return checkout.Kept{}
	}
	if sb.Level != sandbox.Namespace { // only a run at the base fills the caches of later proofs
		return checkout.Kept{}
	}
	if len(needs.Services)+len(needs.Secrets) > 0 { // the results depend on more than files
		return checkout.Kept{}
	}
	stateDir := workspace.UserStateDir(w.Getenv("HOME"))
	if stateDir == "" {
		return checkout.Kept{}
	}
	day := w.Now().UTC().Format(time.DateOnly)
	return checkout.Kept{
		Dir:  filepath.Join(stateDir, workspace.BaselinesDir),
		Self: w.Self,
		With: fmt.Sprintf("%s %s %t %q", w.Version, day, allow == nil, allow),
	}
}

//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"runtime"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Hidden is the hidden command by which this program is its own launcher.
const Hidden = "sandboxed"

func (w Config) run(ctx context.Context, c process.Command, exec Exec) (process.Result, error) {
	if w.Level == External { // somebody else's sandbox, and nothing of ours
		return exec(ctx, c)
	}
	return process.Result{}, noSandbox()
}

// Fixed is for Linux: nothing here opens files.
func (w Config) Fixed() Config { return w }

// Sweep is for Linux: there is no other user here.
func (w Config) Sweep() error { return nil }

func noSandbox() error {
	return fault.Usage(
		"ralph has no sandbox on "+runtime.GOOS+": files, processes and network are open to the agent",
		"use --sandbox=docker, or --no-sandbox", nil)
}

// Launch is for Linux.
func Launch(Launcher) error { return errors.New("nothing is confined on " + runtime.GOOS) }

func (w Config) tryFromInside(context.Context, Exec) ([]breach, error) { return nil, noSandbox() }

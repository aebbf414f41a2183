package main

import (
	"context"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/scaffold"
)

type initCommand struct{ scaffold.Files }

// Help gives the examples.
func (initCommand) Help() string {
	return `Without flags it asks for the settings and writes .ralph/settings.json; for that
it needs a terminal. With flags it asks nothing, and overwrites nothing.

Examples:

  ralph init
  ralph init --prd --name login
  ralph init --github
  ralph init --github --host`
}

func (initCommand) guarded() bool { return false }

func (c initCommand) run(ctx context.Context, w world) (int, error) {
	if c.Any() {
		return fault.ExitDone, c.Lay(w.now(), w.stdout, w.stderr)
	}
	err := c.Ask(ctx, scaffold.Terminal{In: w.stdin, Out: w.stdout, Kind: w.env("TERM")})
	if fault.Exit(err) == fault.ExitInterrupted { // with its own words for it
		return report(w.stderr, err), nil
	}
	return fault.ExitDone, err
}

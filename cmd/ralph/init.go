package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/scaffold"
)

type initCommand struct {
	scaffold.Files

	Action string `name:"action-repository" hidden:"" default:"https://github.com/ralph-loop/ralph" help:"Repository of the action, whose tags are looked up."`
}

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
		c.Pin = c.pin(ctx, w)
		return fault.ExitDone, c.Lay(w.Now(), w.Stdout, w.Stderr)
	}
	err := c.Ask(ctx, scaffold.Terminal{In: w.Stdin, Out: w.Stdout, Kind: w.Getenv("TERM")})
	if fault.Exit(err) == fault.ExitInterrupted { // with its own words for it
		return report(w.Stderr, err), nil
	}
	return fault.ExitDone, err
}

// released is the version of a release, as its tag has it.
var released = pattern.Of(`^v\d+\.\d+\.\d+$`)

// pin is what a workflow names ralph's version by: the commit of the release that
// this program comes from, with the tag in a comment.
func (c initCommand) pin(ctx context.Context, w world) string {
	if !c.GitHub || !released.MatchString(version) {
		return ""
	}
	commit, err := c.tagged(ctx, w)
	if err != nil || commit == "" {
		fmt.Fprintf(w.Stderr, "mind: cannot look up the commit of %s at %s, so the workflow names the tag; pin it with: git ls-remote %[2]s %[1]s\n", version, c.Action)
		return version
	}
	return commit + " # " + version
}

func (c initCommand) tagged(ctx context.Context, w world) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	tool, done, err := w.Git(c.ProjectDir)
	if err != nil {
		return "", err
	}
	defer done()
	return tool.Tag(ctx, git.Remote{URL: c.Action}, version)
}

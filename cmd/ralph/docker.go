package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-loop/ralph/internal/agent"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/process"
)

// dockerState is the folder of the home that holds the login of all sandboxes.
const dockerState = ".dclaude_state"

// settle is how long Docker takes to have files on both sides.
const settle = 2 * time.Second

// dock has the agent run in a Docker sandbox. Its login lies beside the user's
// own and is shared by all sandboxes.
func (d *desk) dock() error {
	if d.Worktree {
		return fault.Usage("a Docker sandbox has only the folder of the work, and the history of a --worktree lies elsewhere",
			"leave out --worktree, or let ralph's own wall confine the agent: --sandbox", nil)
	}
	home := d.w.env("HOME")
	if !filepath.IsAbs(home) {
		return fault.Usage("there is no home folder for the login of the sandboxes", "set HOME", nil)
	}
	d.docker = &agent.Docker{State: filepath.Join(home, dockerState), Pause: settle}
	return nil
}

// docked makes sure that there are sandboxes and what they are made from,
// before anything is spent.
func (d *desk) docked(ctx context.Context, docker string) error {
	if d.docker == nil || d.DryRun {
		return nil
	}
	if err := os.MkdirAll(d.docker.State, 0o700); err != nil {
		return fault.Usage("cannot make the folder for the login of the sandboxes", "make your home folder writable", err)
	}
	for _, question := range []struct {
		argv      []string
		what, fix string
	}{
		{[]string{docker, "sandbox", "ls"}, "there are no Docker sandboxes here", "install Docker Desktop 4.58 or later and enable sandboxes, or give --no-sandbox"},
		{[]string{docker, "image", "inspect", agent.DockerImage}, "there is no image " + agent.DockerImage, "docker build -t " + agent.DockerImage + " plugin/sandbox, in a checkout of ralph; or give --no-sandbox"},
	} {
		var said bytes.Buffer
		res, err := d.w.runner.Run(ctx, process.Command{
			Argv: question.argv, Dir: d.root(), Env: d.w.outside(d.ProjectDir), Stderr: &said, Timeout: time.Minute,
		})
		if err == nil && res.Exit != 0 {
			err = fmt.Errorf("docker ended with %d: %s", res.Exit, bytes.TrimSpace(said.Bytes()))
		}
		if err != nil {
			return fault.Usage(question.what, question.fix, err)
		}
	}
	return nil
}

// mode is what the marker of a run says of it.
func (d *desk) mode() string {
	if d.docker != nil {
		return "sandbox"
	}
	return "direct"
}

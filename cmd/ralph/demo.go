//go:build !windows

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/laptop"
	"github.com/ralph-loop/ralph/internal/testsupport/demo"
	"github.com/ralph-loop/ralph/internal/testsupport/scripted"
)

type demoCommand struct {
	Dir  string `help:"Directory for the demo's files (default: a new temporary one)." type:"path"`
	Keep bool   `help:"Keep the repositories too, not only the journal."`
	JSON bool   `name:"json" help:"Print the result as one JSON object."`
}

// Help gives the example.
func (demoCommand) Help() string { return "Example: ralph demo --keep" }

func (demoCommand) guarded() bool { return true }

func (c demoCommand) run(ctx context.Context, w world) (int, error) {
	dir, err := c.folder()
	if err != nil {
		return 0, fault.Usage("cannot make the demo's folder", "name a writable, empty one with --dir", err)
	}
	self, err := laptop.Executable()
	if err != nil {
		return 0, err
	}
	getenv := func(name string) string {
		if name == "PATH" {
			return w.Path(dir)
		}
		return w.Getenv(name)
	}
	began := w.Now()
	shown, err := demo.Demo{
		Dir: dir, Keep: c.Keep, Self: self, Version: version, Getenv: getenv, Now: w.Now, Exec: w.Runner.Run,
		Log: w.Stderr, Every: 200 * time.Millisecond,
	}.Play(ctx)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		err = laptop.PrintResult(w.Stdout, shown.Result.Outcome.Run, shown.Result.Outcome.Home, "")
	} else {
		err = c.show(w.Stdout, shown, w.Now().Sub(began))
	}
	return shown.Result.Exit(config.FailOnStopped), err
}

// folder is a new, empty one.
func (c demoCommand) folder() (string, error) {
	if c.Dir == "" {
		return os.MkdirTemp("", "ralph-demo-")
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return "", err
	}
	there, err := os.ReadDir(c.Dir)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s is not empty", c.Dir)
	}
	return c.Dir, err
}

// show prints what a maintainer would see.
func (c demoCommand) show(to io.Writer, shown demo.Shown, took time.Duration) error {
	state := "ready for review"
	if shown.Pull.Draft {
		state = "draft"
	}
	sections := []struct{ title, text string }{
		{"The progress comment on the issue", shown.Comment},
		{fmt.Sprintf("Pull request #%d, %s: %s", shown.Pull.Number, state, shown.Pull.Title), shown.Pull.Body},
		{"The branch " + shown.Pull.Head, shown.Log},
	}
	for _, section := range sections {
		rule := strings.Repeat("─", max(0, 76-len([]rune(section.title))))
		if _, err := fmt.Fprintf(to, "\n── %s %s\n\n%s\n", section.title, rule, strings.TrimSpace(section.text)); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(to, "\n%s, %d calls to GitHub's API. The journal: %s\n", took.Round(10*time.Millisecond), shown.Calls, shown.Journal)
	if c.Keep && err == nil {
		_, err = fmt.Fprintf(to, "The repositories: %s\n", filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(shown.Journal)))))
	}
	return err
}

// scriptedCommand is the scripted agent of tests and the demo. It runs as a child
// of ralph, as any agent does.
type scriptedCommand struct {
	File string `arg:"" help:"Script to play."`
}

func (c scriptedCommand) run(ctx context.Context, w world) (int, error) {
	script, err := os.ReadFile(c.File)
	if err != nil {
		return 0, fault.Usage("cannot read the script", "name the script's file in agent-args", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return 0, fmt.Errorf("find the working directory: %w", err)
	}
	iteration, err := strconv.Atoi(w.Getenv("RALPH_ITERATION"))
	if err != nil {
		return 0, fault.Usage("RALPH_ITERATION is not a number", "let ralph start the scripted agent", err)
	}
	return scripted.Play(ctx, scripted.Stage{
		Name: c.File, Script: script, Iteration: iteration, Story: w.Getenv("RALPH_STORY"), Dir: dir,
		Prompt: w.Stdin, Out: w.Stdout, Run: w.Runner.Run, Env: os.Environ(),
	})
}

//go:build !windows

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/entry/laptop"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/redact"
	"github.com/ralph-loop/ralph/internal/run/recorded"
	page "github.com/ralph-loop/ralph/internal/show/report"
	"github.com/ralph-loop/ralph/internal/show/view"
)

type reportCommand struct {
	laptop.ShownRun
	Format string `enum:"html,md" default:"html" placeholder:"FORMAT" help:"html: one self-contained page. md: for a comment or a terminal."`
	Output string `short:"o" placeholder:"FILE" help:"Output file; - is standard output (default: report.html beside the journal; md: standard output)."`
}

func (c reportCommand) run(ctx context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	home, run, err := c.Find(w.World)
	if err != nil {
		return 0, err
	}
	source, err := c.source(ctx, w, home, run)
	if err != nil {
		return 0, err
	}
	write := source.Markdown
	if c.Format == "html" {
		write = source.HTML
	}
	text, err := write()
	if err != nil {
		return 0, err
	}
	return fault.ExitDone, c.put(w, home, text)
}

// source returns the run with readers for the files beside its journal.
func (c reportCommand) source(ctx context.Context, w world, home workspace.Run, run journal.Run) (page.Source, error) {
	files := recorded.Files{Home: home, Abandoned: c.Abandoned(run), Hide: redact.New(secrets(w.Getenv)...).String}
	tool, err := w.Git(c.ProjectDir)
	if err != nil {
		return page.Source{}, err
	}
	// Without a repository the page has no diffs.
	if trusted, err := tool.OpenShared(ctx, c.ProjectDir, filepath.Join(tool.Home, "trusted.git")); err == nil {
		files.Code = trusted
	}
	return files.Source(ctx)
}

// secrets returns the keys of all agents: what a run kept was printed by programs that may have others.
func secrets(getenv func(string) string) []string {
	var all []string
	for _, name := range agent.Names() {
		all = append(all, agent.KeysFrom(getenv, name, "").Secrets()...)
	}
	return all
}

// put writes the report, and prints the name of its file.
func (c reportCommand) put(w world, home workspace.Run, text []byte) error {
	name := c.Output
	if name == "" && c.Format != "html" {
		name = "-"
	}
	if name == "-" {
		_, err := w.Stdout.Write(text)
		return err
	}
	var err error
	if name == "" {
		name = home.File(workspace.PageFile)
		err = home.WriteFile(workspace.PageFile, text)
	} else {
		err = os.WriteFile(name, text, 0o644)
	}
	if err != nil {
		return fault.Usage("cannot write "+name, "name another file with -o, or - for standard output", err)
	}
	_, err = fmt.Fprintln(w.Stdout, name)
	return err
}

type statusCommand struct {
	laptop.ShownRun
	Follow bool `help:"Follow the run until it stops."`
	JSON   bool `name:"json" help:"Print the result as one JSON object."`
}

func (c statusCommand) run(ctx context.Context, w world) (int, error) { //nolint:unparam // every command has a code
	home, run, err := c.Find(w.World)
	if err != nil {
		return 0, err
	}
	if c.JSON {
		return fault.ExitDone, laptop.PrintResult(w.Stdout, run, home)
	}
	if !c.Follow {
		_, err = fmt.Fprint(w.Stdout, clean.LogLines(view.Text(run, c.Abandoned(run))))
		return fault.ExitDone, err
	}
	return fault.ExitDone, c.ShownRun.Follow(ctx, w.World, home, run)
}

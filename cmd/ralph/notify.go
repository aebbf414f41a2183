package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/clean"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/view"
)

// patienceForNews bounds a command that tells people that a run has ended.
const patienceForNews = 30 * time.Second

// notify tells whoever has gone for a coffee that the run has ended: by the
// terminal's bell, and by the command of --notify. That one gets the result on
// its stdin, as --json prints it, and its gist in variables. Its failure is no
// failure of the run's.
func (d *desk) notify(ctx context.Context, outcome job.Outcome, worktree string) {
	d.console.ring()
	if d.Notify == "" {
		return
	}
	var result, said bytes.Buffer
	if err := printResult(&result, outcome.Run, outcome.Home, worktree); err != nil {
		d.line("note: --notify: " + err.Error())
		return
	}
	run := outcome.Run
	ended, err := d.w.runner.Run(ctx, process.Command{
		Argv: []string{"sh", "-c", d.Notify}, Dir: d.ProjectDir, Stdin: &result, Stdout: &said, Stderr: &said, Timeout: patienceForNews,
		Env: slices.Concat(d.w.outside(d.ProjectDir), []string{
			"RALPH_RUN_ID=" + run.ID, "RALPH_STATUS=" + string(run.Stop.Reason.Status()), "RALPH_STOP_REASON=" + string(run.Stop.Reason),
			"RALPH_MESSAGE=" + view.News(run),
		}),
	})
	switch {
	case err != nil:
		d.line("note: --notify: " + err.Error())
	case ended.TimedOut:
		d.line("note: --notify was ended after " + patienceForNews.String())
	case ended.Exit != 0:
		d.line(fmt.Sprintf("note: --notify ended with exit code %d: %s", ended.Exit, clean.Inline(said.String(), 200)))
	}
}

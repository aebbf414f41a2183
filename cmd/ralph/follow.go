package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// glance is how often a run that goes on elsewhere is looked at.
const glance = 200 * time.Millisecond

// wordless is said of a run whose journal ends before it stopped: a full disk
// leaves no more than a kill.
const wordless = "it ended without a word, killed or unable to write"

// abandoned is said of a run that did not stop, and that nobody works on.
func abandoned(run journal.Run) string {
	again := "`" + view.Resume(run.Policy.Agent) + "` goes on"
	if supervised(run) {
		again = "start `ralph supervise` again"
	}
	return "! nobody is at work on it any more: " + wordless + "\nnext: " + again
}

// follow prints what happens in a run, until it has stopped, or nobody works on
// it any more.
func (c statusCommand) follow(ctx context.Context, w world, home workspace.Run, run journal.Run) error {
	fd := int(w.stdout.Fd())
	width, _, _ := term.GetSize(fd) // 0 where it is no terminal
	f := follower{home: home, console: view.Console{Look: view.LookFor(w.env, term.IsTerminal(fd), width), Now: w.now}}
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		last := c.abandoned(run) // asked before the look: what was written until then is seen by it
		lines, err := f.look()
		if err != nil {
			return err
		}
		fmt.Fprint(w.stdout, lines)
		if f.run.Stop != nil {
			return nil
		}
		if last {
			_, err := fmt.Fprintln(w.stdout, abandoned(f.run))
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// abandoned tells whether no process works on the run: one that does holds the
// project's lock. A loop within a session has no process of its own.
func (c statusCommand) abandoned(run journal.Run) bool {
	if inSession(run) {
		return false
	}
	folder := workspace.FolderAbove(c.ProjectDir)
	if supervised(run) {
		folder.Key = workspace.Task{}.Runs().Key
	}
	return folder.Free() == nil
}

// follower has seen so much of a run.
type follower struct {
	home    workspace.Run
	console view.Console
	run     journal.Run
	seen    int
}

// look is what there is to show of all that is new.
func (f *follower) look() (string, error) {
	entries, err := f.home.Entries()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, entry := range entries[min(f.seen, len(entries)):] {
		f.run = journal.Fold(f.run, entry)
		if shown := f.console.Event(f.run, entry.Event); shown != "" {
			fmt.Fprintln(&text, shown)
		}
	}
	f.seen = len(entries)
	return text.String(), nil
}

package job

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// mostFound is how many places an inspection has on record.
const mostFound = 50

// inspect looks where the whole change makes tests and checks say less.
func (s *site) inspect(ctx context.Context, run journal.Run, step verdict.Inspect, emit emit) error {
	inspected, err := inspection(ctx, s.trusted, run, step)
	if err == nil {
		emit(inspected)
	}
	return err
}

// inspection holds a commit against its base, but for the loop's own books: they
// change in every iteration, and so would explain each value that a test wants
// now. An error is only one of the context's: what cannot be compared is a word
// on record.
func inspection(ctx context.Context, trusted *git.Trusted, run journal.Run, step verdict.Inspect) (journal.ChangeInspected, error) {
	inspected := journal.ChangeInspected{Commit: step.Commit, Tree: step.Tree}
	changed, err := trusted.Changes(ctx, git.Span{From: run.Base, To: step.Commit})
	if err != nil {
		inspected.Why = err.Error()
		return inspected, ctx.Err()
	}
	books := books(run)
	changes := make([]tamper.Change, 0, len(changed))
	for _, file := range changed {
		if !slices.Contains(books, file.Path) {
			changes = append(changes, tamper.Change(file))
		}
	}
	found := tamper.Find(changes)
	for _, f := range found[:min(len(found), mostFound)] {
		place := journal.Loosened{File: f.File, Kind: string(f.Kind), Why: f.Why}
		for _, line := range f.Lines {
			place.Lines = append(place.Lines, line.String())
		}
		inspected.Found = append(inspected.Found, place)
	}
	inspected.More = len(found) - len(inspected.Found)
	if names := unread(changes); len(names) > 0 {
		inspected.Why = "too large to be compared: " + journal.Few(names)
	}
	return inspected, nil
}

// unread are the tests that changed and that nobody has read: what is too large
// comes as empty, and no two empty files differ.
func unread(changes []tamper.Change) []string {
	var names []string
	for _, c := range changes {
		if c.Before != nil && c.After != nil && len(c.Before)+len(c.After) == 0 && paths.Of(c.Path) == paths.Test {
			names = append(names, c.Path)
		}
	}
	return names
}

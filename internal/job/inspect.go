package job

import (
	"context"
	"path"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/proof"
	paths "github.com/ralph-loop/ralph/internal/suite"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/workspace"
)

// mostFound is how many places an inspection has on record.
const mostFound = 50

// inspection looks where the whole change makes tests and checks say less. What
// reading does not tell is tried.
type inspection struct {
	trusted *git.Trusted
	prover  proof.Prover
}

func (i inspection) emit(ctx context.Context, run journal.Run, step verdict.Inspect, emit emit) error {
	inspected, err := i.of(ctx, run, step)
	if err == nil {
		emit(inspected)
	}
	return err
}

// of holds a commit against its base, but for the loop's own books: they change
// in every iteration, and so would explain each value that a test wants now.
// What cannot be compared is a word on record.
func (i inspection) of(ctx context.Context, run journal.Run, step verdict.Inspect) (journal.ChangeInspected, error) {
	inspected := journal.ChangeInspected{Commit: step.Commit, Tree: step.Tree}
	changes, err := i.changes(ctx, run, git.Span{From: run.Base, To: step.Commit})
	if err != nil {
		inspected.Why = err.Error()
		return inspected, ctx.Err()
	}
	prover := i.prover
	prover.Changes = func(ctx context.Context, from, to string) ([]tamper.Change, error) {
		return i.changes(ctx, run, git.Span{From: from, To: to})
	}
	doubted, err := prover.Doubts(ctx, run, step, changes)
	if err != nil {
		return inspected, err
	}
	found := append(tamper.Find(changes), doubted...)
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

// changes are the files in which two commits differ, but for the loop's own books.
func (i inspection) changes(ctx context.Context, run journal.Run, span git.Span) ([]tamper.Change, error) {
	changed, err := i.trusted.Changes(ctx, span)
	if err != nil {
		return nil, err
	}
	books := books(run)
	changes := make([]tamper.Change, 0, len(changed))
	for _, file := range changed {
		if !slices.Contains(books, file.Path) {
			changes = append(changes, tamper.Change(file))
		}
	}
	return changes, nil
}

// unread are the tests of before that changed, or went, and that nobody has
// read.
func unread(changes []tamper.Change) []string {
	var names []string
	for _, c := range changes {
		if c.Unread && c.Before != nil && paths.Of(c.Path) == paths.Test {
			names = append(names, c.Path)
		}
	}
	return names
}

// stood gives a commit as a proof of it has it, but for what is wanted
// otherwise.
func (s *site) stood(ctx context.Context, run journal.Run, commit string, wanted proof.Standing) (string, error) {
	return stood(ctx, s.trusted, run, commit, wanted)
}

// log is all that a check printed.
func (s *site) log(check journal.CheckEnded) string { return printed(s.Folder, check) }

func printed(folder workspace.Folder, check journal.CheckEnded) string {
	text, err := folder.Read(path.Base(check.Log), check.Digest)
	if err != nil {
		return check.Excerpt
	}
	return text
}

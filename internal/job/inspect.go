package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tamper"
	"github.com/ralph-loop/ralph/internal/verdict"
)

// mostFound is how many places an inspection has on record.
const mostFound = 50

// inspect looks where the whole change makes tests and checks say less.
func (s *site) inspect(ctx context.Context, run journal.Run, step verdict.Inspect, emit emit) error {
	inspected, err := inspection(ctx, s.trusted, run.Base, step)
	if err == nil {
		emit(inspected)
	}
	return err
}

// inspection holds a commit against its base. An error is only one of the
// context's: what cannot be compared is a word on record.
func inspection(ctx context.Context, trusted *git.Trusted, base string, step verdict.Inspect) (journal.ChangeInspected, error) {
	inspected := journal.ChangeInspected{Commit: step.Commit, Tree: step.Tree}
	changed, err := trusted.Changes(ctx, git.Span{From: base, To: step.Commit})
	if err != nil {
		inspected.Why = err.Error()
		return inspected, ctx.Err()
	}
	changes := make([]tamper.Change, 0, len(changed))
	for _, file := range changed {
		changes = append(changes, tamper.Change(file))
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
	return inspected, nil
}

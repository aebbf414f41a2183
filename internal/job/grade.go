package job

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/tally"
)

// suite are the tests of a run's stories, as its repository has them.
type suite struct{ *site }

// Of are the files that the iterations on a story changed. What an earlier run
// left on the branch is anybody's: it counts for a story that brought nothing
// else.
func (s suite) Of(ctx context.Context, run journal.Run, story, commit string) ([]string, error) {
	var files []string
	for _, it := range run.Iterations {
		if it.Story != story || it.Taken == nil || it.Taken.To == "" || it.Taken.To == it.Taken.From {
			continue
		}
		changed, err := s.trusted.Names(ctx, git.Span{From: it.Taken.From, To: it.Taken.To})
		if err != nil {
			return nil, err
		}
		files = append(files, changed...)
	}
	if len(files) == 0 && run.Start != run.Base {
		return s.trusted.Names(ctx, git.Span{From: run.Base, To: run.Start})
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Touched looks at the commits of the iterations on a story. What an earlier run
// left on the branch is anybody's.
func (s suite) Touched(ctx context.Context, run journal.Run, story string) (bool, error) {
	if run.Start != run.Base {
		return true, nil
	}
	own := books(run)
	for _, it := range run.Iterations {
		if it.Story != story || it.Taken == nil || it.Taken.To == it.Taken.From {
			continue
		}
		paths, err := s.trusted.Touched(ctx, git.Span{From: it.Taken.From, To: it.Taken.To})
		if err != nil || slices.ContainsFunc(paths, func(path string) bool { return !slices.Contains(own, path) }) {
			return true, err
		}
	}
	return false, nil
}

// Onto puts files as commit has them onto the base.
func (s suite) Onto(ctx context.Context, run journal.Run, commit string, files []string) (string, error) {
	return s.trusted.Graft(ctx, git.Graft{Onto: run.Base, From: commit, Paths: files})
}

// Told reads the list beside the log.
func (s suite) Told(check journal.CheckEnded) tally.Tally { return list(s.Folder, check) }

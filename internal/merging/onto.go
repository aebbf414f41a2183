package merging

import (
	"context"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

// onto returns what a run builds on once others pushed to its branch: what they did, without the run's open work, on
// what was proven before. If these conflict, it is all that they pushed. The same input gives the same commit.
func onto(ctx context.Context, t *git.Trusted, with journal.Joined) (*journal.Onto, error) {
	if with.Of == journal.OfBase || with.Own {
		return nil, nil //nolint:nilnil // as before
	}
	last, err := t.MergeBase(ctx, git.Span{From: with.From, To: with.With})
	if err != nil {
		return nil, err
	}
	sound, err := t.TreeOf(ctx, with.Sound)
	if err != nil {
		return nil, err
	}
	m := git.Message{Subject: "ralph: what others pushed, on what was proven"}
	proven, err := t.Commit(ctx, sound, m, last)
	if err != nil {
		return nil, err
	}
	merged, err := mergeTrees(ctx, t, Commits{Ours: proven, Theirs: with.With})
	if err != nil {
		return nil, err
	}
	if len(merged.Conflicts) > 0 {
		tree, err := t.TreeOf(ctx, with.With)
		return &journal.Onto{Commit: with.With, Tree: tree}, err
	}
	commit, err := t.Commit(ctx, merged.Tree, m, with.Sound)
	return &journal.Onto{Commit: commit, Tree: merged.Tree}, err
}

// Restore makes the commits again on which a run builds: they are not on its branch.
func Restore(ctx context.Context, t *git.Trusted, run journal.Run) error {
	for _, joined := range run.Joins {
		if joined.Onto == nil {
			continue
		}
		if _, err := onto(ctx, t, joined); err != nil {
			return err
		}
	}
	return nil
}

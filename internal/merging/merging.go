// Package merging makes one of a run's work and what others did meanwhile.
package merging

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/handover"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Join makes one of the work and what others did since last.
func Join(ctx context.Context, t *git.Trusted, run journal.Run, with journal.Joined, last string) (journal.Joined, error) {
	with.From, with.To, with.Tree = run.Head, run.Head, run.Tree
	span := git.Span{From: last, To: with.With}
	var err error
	if with.By, err = t.Authors(ctx, span); err != nil {
		return with, err
	}
	commits, err := t.Log(ctx, span)
	if err != nil {
		return with, err
	}
	with.Commits = len(commits)
	if with.Of == journal.OfBranch {
		if with.Protected, err = handover.Guarded(ctx, t, span, run.Policy.Protect); err != nil {
			return with, err
		}
	}
	made, err := t.Merge(ctx, git.Merge{Ours: run.Head, Theirs: with.With, Message: message(run, with)})
	if err != nil || made.SHA == "" {
		with.Conflicts = made.Conflicts
		return with, err
	}
	with.To, with.Tree = made.SHA, made.Tree
	return with, nil
}

// message is that of a merge.
func message(run journal.Run, with journal.Joined) git.Message {
	of := run.Branch
	if with.Of == journal.OfBase {
		of = run.BaseRef
	}
	return git.Message{Subject: fmt.Sprintf("merge: %s as it stands at %.7s", of, with.With), Trailers: run.Trailers(""), SignOff: run.Policy.SignOff}
}

package merging

import (
	"context"
	"slices"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

// build adds what the run builds on, unless that is the base alone, or nothing was merged.
func build(ctx context.Context, t *git.Trusted, run journal.Run, with journal.Joined) (_ journal.Joined, err error) {
	if with.To == with.From || with.Own || with.Of == journal.OfBase && run.Sound == run.Base {
		return with, nil
	}
	with.Sound = run.Sound
	if with.Onto, err = onto(ctx, t, with); err == nil {
		with.SoundTree, err = t.TreeOf(ctx, with.Sound)
	}
	return with, err
}

// onto returns what a run builds on once others did something: their change, without its open work, on what was proven
// before. Lines stay as they were proven where others changed the open work. The same input gives the same commit.
func onto(ctx context.Context, t *git.Trusted, with journal.Joined) (*journal.Onto, error) {
	last := with.From // which people may have rebased
	if with.To != "" {
		var err error
		if last, err = t.MergeBase(ctx, git.Span{From: with.From, To: with.With}); err != nil {
			return nil, err
		}
	}
	commit, err := put(ctx, t, git.Span{From: last, To: with.With}, with.Sound, with.With) // which keeps its id when the run's commits are signed
	if err != nil {
		return nil, err
	}
	tree, err := t.TreeOf(ctx, commit)
	return &journal.Onto{Commit: commit, Tree: tree}, err
}

// With returns a commit with what others changed later in a run.
func With(ctx context.Context, t *git.Trusted, commit string, others journal.Joined) (string, error) {
	return put(ctx, t, git.Span{From: others.Sound, To: others.Onto.Commit}, commit, commit)
}

// put makes a change on a commit. Lines that both changed stay.
func put(ctx context.Context, t *git.Trusted, change git.Span, on, parent string) (string, error) {
	merged, err := apply(ctx, t, change, Commits{Ours: on, Keep: true})
	if err != nil {
		return "", err
	}
	commit, err := t.Commit(ctx, merged.Tree, applied, parent)
	if err != nil {
		return "", err
	}
	for _, name := range merged.Conflicts { // one side lacks it, or it is no text
		had, err := t.List(ctx, change.From, name)
		if err != nil {
			return "", err
		}
		left, err := t.List(ctx, change.To, name)
		if err != nil {
			return "", err
		}
		from := on // what was not there when they changed it is later work
		if len(had) == 1 && len(left) == 0 {
			from = change.To // they removed it
		}
		if commit, err = t.Overlay(ctx, git.Overlay{Onto: commit, From: from, Paths: []string{name}}); err != nil {
			return "", err
		}
	}
	return commit, nil
}

var applied = git.Message{Subject: "chore: a change on another commit"}

// apply makes the change between two commits on another one.
func apply(ctx context.Context, t *git.Trusted, change git.Span, on Commits) (Merged, error) {
	var sides []string
	for _, commit := range []string{on.Ours, change.To} {
		tree, err := t.TreeOf(ctx, commit)
		if err != nil {
			return Merged{}, err
		}
		side, err := t.Commit(ctx, tree, applied, change.From)
		if err != nil {
			return Merged{}, err
		}
		sides = append(sides, side)
	}
	return mergeTrees(ctx, t, Commits{Ours: sides[0], Theirs: sides[1], Keep: on.Keep})
}

// Without returns a commit without some work that is in it: what came later, on the code before that. Lines that both changed
// are as they were there.
func Without(ctx context.Context, t *git.Trusted, commit string, work []journal.CommitsTaken) (left string, err error) {
	left = commit
	for _, taken := range slices.Backward(work) {
		if left, err = put(ctx, t, git.Span{From: taken.To, To: left}, taken.From, commit); err != nil {
			return commit, err
		}
	}
	return left, nil
}

// Restore makes the commits again on which a run builds: they are not on its branch.
func Restore(ctx context.Context, t *git.Trusted, run journal.Run) error {
	for _, joined := range slices.Concat(run.Grounds, run.Open.Judges) {
		if _, err := onto(ctx, t, joined); err != nil {
			return err
		}
	}
	return nil
}

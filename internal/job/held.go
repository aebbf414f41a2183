package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
)

// held is what an agent left, before the checks left some of their own. It is
// known to this process alone: a run that was killed in between takes all.
type held struct {
	iteration string
	head      string
	tree      string
	litter    git.Litter // of the checks
	committed bool       // all of it
}

// of tells whether it is what the newest iteration left.
func (h *held) of(run journal.Run) bool { return h.tree != "" && h.iteration == latest(run) }

// renew holds what the newest iteration left, unless that is held already. A
// tree that cannot be read is for those to tell who have to read it.
func (h *held) renew(ctx context.Context, run journal.Run, tree *git.Tree) held {
	if h.of(run) {
		return *h
	}
	next := held{iteration: latest(run), litter: h.litter}
	seen, err := tree.See(ctx)
	if err != nil {
		return next
	}
	now, err := seen.Work(ctx)
	if err != nil {
		return next
	}
	if now, err = tree.Tidy(ctx, now, h.litter); err != nil {
		return next
	}
	next.head, next.tree, next.committed = seen.Head, now, !seen.Dirty
	return next
}

// settle tells what the agent left and what the checks did.
func (h *held) settle(ctx context.Context, run journal.Run, tree *git.Tree, taken *journal.CommitsTaken) {
	if !h.of(run) || taken.Work == "" {
		return
	}
	if litter, err := tree.Litter(ctx, git.Span{From: h.tree, To: taken.Work}); err == nil {
		h.litter = litter
	}
	taken.Work = h.tree
}

// sweep commits what is uncommitted in a tree: what is held, and all of it
// where nothing is, or where somebody has committed since. It gives how the tree
// stands then, where that could be seen.
func (h *held) sweep(ctx context.Context, run journal.Run, tree *git.Tree) (*git.Sight, error) {
	seen, err := tree.See(ctx)
	if err != nil || !seen.Dirty {
		return seen, err
	}
	if h.of(run) && seen.Head == h.head {
		_, err = seen.CommitSnapshot(ctx, h.tree, leftovers(run, h.tree))
	} else {
		_, err = seen.CommitAll(ctx, leftovers(run, ""))
	}
	if err != nil {
		return nil, err
	}
	return tree.See(ctx)
}

package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
)

// agentSnapshot excludes files of checks. It is in memory: after a kill these count as the agent's.
type agentSnapshot struct {
	iteration  string
	head       string
	tree       string
	checkFiles map[string]string // written by the checks: path to object
	committed  bool              // all files are committed
	leftOut    []string          // of commits, for the user to know
}

func (h *agentSnapshot) isCurrent(run journal.Run) bool {
	return h.tree != "" && h.iteration == latestNumber(run)
}

// update takes a snapshot of each iteration once. Later steps report errors.
func (h *agentSnapshot) update(ctx context.Context, run journal.Run, tree *git.Tree) agentSnapshot {
	if h.isCurrent(run) {
		return *h
	}
	next := agentSnapshot{iteration: latestNumber(run), checkFiles: h.checkFiles}
	seen, err := tree.Inspect(ctx)
	if err != nil {
		return next
	}
	work, err := seen.Work(ctx)
	if err != nil {
		return next
	}
	work, err = next.tidy(ctx, tree, work)
	if err != nil {
		return next
	}
	next.head = seen.Head
	next.tree = work
	next.committed = !seen.Dirty
	return next
}

// separateCheckFiles removes files that checks wrote from what the agent left.
func (h *agentSnapshot) separateCheckFiles(
	ctx context.Context,
	run journal.Run,
	tree *git.Tree,
	taken *journal.CommitsTaken,
) {
	if !h.isCurrent(run) || taken.Work == "" {
		return
	}
	written, err := newFiles(ctx, tree, git.Span{From: h.tree, To: taken.Work})
	if err == nil {
		h.checkFiles = written
	}
	taken.Work = h.tree
}

// newFiles returns the new files in the later of two snapshots, with their objects.
func newFiles(ctx context.Context, tree *git.Tree, span git.Span) (map[string]string, error) {
	changes, err := git.Compare(ctx, tree.Do, span)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, c := range changes {
		if c.OldMode == git.ModeNone {
			files[c.Path] = c.ID
		}
	}
	return files, nil
}

// commitLeftovers commits the snapshot, or everything if there is none or HEAD has moved since. It
// returns the tree's new state, if known.
func (h *agentSnapshot) commitLeftovers(
	ctx context.Context,
	run journal.Run,
	tree *git.Tree,
) (*git.Inspection, error) {
	seen, err := tree.Inspect(ctx)
	if err != nil || !seen.Dirty {
		return seen, err
	}
	work := h.tree
	message := leftoversMessage(run, h.tree)
	if !h.isCurrent(run) || seen.Head != h.head {
		message = leftoversMessage(run, "")
		work, err = seen.Work(ctx)
		if err != nil {
			return nil, err
		}
		h.checkFiles = nil
		work, err = h.tidy(ctx, tree, work)
		if err != nil {
			return nil, err
		}
	}
	_, err = seen.CommitSnapshot(ctx, work, message)
	h.leftOut = append(h.leftOut, seen.LeftOut...)
	if err != nil {
		return nil, err
	}
	return tree.Inspect(ctx)
}

// tidy returns a snapshot without what checks left, and without files that filters have to write.
func (h *agentSnapshot) tidy(ctx context.Context, tree *git.Tree, work string) (string, error) {
	changes, err := git.Compare(ctx, tree.Do, git.Span{From: "HEAD", To: work})
	if err != nil {
		return work, err
	}
	excluded, err := tree.LeaveOut(ctx, changes)
	if err != nil {
		return work, err
	}
	h.leftOut = git.Paths(excluded)
	for _, c := range changes {
		if c.OldMode == git.ModeNone && h.checkFiles[c.Path] == c.ID {
			excluded = append(excluded, c)
		}
	}
	return tree.Without(ctx, work, excluded)
}

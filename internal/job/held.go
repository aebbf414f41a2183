package job

import (
	"context"
	"errors"
	"strings"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/policy"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// held is what an agent left, before the checks left some of their own. It is
// known to this process alone: a run that was killed in between takes all.
type held struct {
	iteration string
	head      string
	tree      string
	litter    git.Leftovers // of the checks
	committed bool          // all of it
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
	seen, err := tree.Inspect(ctx)
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
	if litter, err := tree.Leftovers(ctx, git.Span{From: h.tree, To: taken.Work}); err == nil {
		h.litter = litter
	}
	taken.Work = h.tree
}

// sweep commits what is uncommitted in a tree: what is held, and all of it
// where nothing is, or where somebody has committed since. It gives how the tree
// stands then, where that could be seen.
func (h *held) sweep(ctx context.Context, run journal.Run, tree *git.Tree) (*git.Inspection, error) {
	seen, err := tree.Inspect(ctx)
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
	return tree.Inspect(ctx)
}

// How much of what an agent proposes is kept.
const (
	mostProposed = 5  // files
	mostLines    = 20 // of each
	longestLine  = 500
	mostBefore   = 1 << 20 // bytes of what it is held against
)

// proposed is what an agent in dir would have future agents told. The files
// themselves are put back: whether it is true and worth telling is for people to
// say.
func proposed(ctx context.Context, dir string, trusted *git.Trusted, taken journal.CommitsTaken) []journal.Proposal {
	var all []journal.Proposal
	tree, err := untrusted.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer tree.Close() //nolint:errcheck // only a handle
	for _, name := range taken.Dropped {
		if len(all) == mostProposed || !policy.Instructs(name) {
			continue
		}
		text, err := tree.ReadFile(name, mostBefore)
		if err != nil { // it was taken away, or is no file
			continue
		}
		before, err := trusted.ReadFile(ctx, git.At{Commit: taken.To, Path: name}, mostBefore)
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			continue
		}
		if lines := fresh(string(before), string(text)); len(lines) > 0 {
			all = append(all, journal.Proposal{Path: name, Lines: lines})
		}
	}
	return all
}

// fresh are the first lines of now that do not stand in before.
func fresh(before, now string) []string {
	known, lines := map[string]bool{"": true}, []string{}
	for line := range strings.Lines(before) {
		known[capped(line)] = true
	}
	for line := range strings.Lines(now) {
		if line = capped(line); known[line] {
			continue
		}
		if len(lines) == mostLines {
			return append(lines, "…")
		}
		lines = append(lines, line)
	}
	return lines
}

// capped is as much of a line as is kept.
func capped(line string) string {
	runes := []rune(strings.TrimSpace(line))
	return string(runes[:min(len(runes), longestLine)])
}

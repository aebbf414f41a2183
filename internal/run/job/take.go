package job

import (
	"context"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/box/handover"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/workspace"
	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// takeSnapshot is called before checks, which may write files. It reports that all is committed.
func (t *agentTree) takeSnapshot(ctx context.Context, run journal.Run) bool {
	tree, err := t.open(ctx)
	if err != nil || tree == nil {
		return false
	}
	t.snapshot = t.snapshot.update(ctx, run, tree)
	return t.snapshot.committed
}

// commitLeftovers returns the tree's new state, if known.
func (t *agentTree) commitLeftovers(ctx context.Context, run journal.Run) (*git.Inspection, error) {
	tree, err := t.open(ctx)
	if err != nil || tree == nil {
		return nil, err
	}
	return t.snapshot.commitLeftovers(ctx, run, tree)
}

// leftoversMessage is for uncommitted work. tree excludes the loop's own files, if known.
func leftoversMessage(run journal.Run, tree string) git.Message {
	n := len(run.Iterations)
	if n == 0 {
		return git.Message{Subject: "chore: work left uncommitted", Trailers: run.Trailers("")}
	}
	it := run.Iterations[n-1]
	subject := fmt.Sprintf("chore: [%s] - work of iteration %d", it.Story, it.Number)
	claimed := it.Read != nil && slices.Contains(it.Read.Claimed, it.Story)
	story, found := run.Plan.Find(it.Story)
	switch {
	case tree != "" && tree == run.WorkBefore(it):
		subject = fmt.Sprintf("chore: [%s] - the loop's own files after iteration %d", it.Story, it.Number)
	case found && claimed && verdict.IsGreen(run, it.Checks):
		subject = fmt.Sprintf("feat: [%s] - %s", story.ID, story.Title)
	}
	return git.Message{Subject: subject, Trailers: run.Trailers(it.Story)}
}

// newCommits takes the agent's commits. seen may hold what an earlier look at the tree found.
func (t *agentTree) newCommits(
	ctx context.Context, run journal.Run, seen *git.Inspection,
) (journal.CommitsTaken, error) {
	tree, err := t.open(ctx)
	switch {
	case err != nil:
		return journal.CommitsTaken{}, err
	case tree == nil: // ralph only sees changes
		return journal.CommitsTaken{Work: workspace.Fingerprint(ctx, t.code.Dir)}, nil
	case t.code.UserTree != nil:
		return t.takeFromCheckout(ctx, run, seen)
	}
	return t.takeFromClone(ctx, run, tree, seen)
}

func (t *agentTree) takeFromClone(
	ctx context.Context,
	run journal.Run,
	tree *git.Tree,
	seen *git.Inspection,
) (journal.CommitsTaken, error) {
	taken, err := handover.Take(ctx, t.repo.trusted, tree, seen, handover.Terms{
		Base:    run.Base,
		Last:    run.Head,
		Protect: run.Policy.Protect,
		Secret:  t.hasSecret,
		Authorship: handover.Authorship{
			By:       tree.Author,
			Since:    run.Clock.Began,
			Until:    t.machine.Now(),
			Trailers: leftoversMessage(run, "").Trailers,
			SignOff:  run.Policy.SignOff,
		},
	})
	if err != nil {
		return taken, err
	}
	t.snapshot.separateCheckFiles(ctx, run, tree, &taken)
	taken.Proposed = t.proposals(ctx, tree.Dir, taken)
	return taken, nil
}

func (t *agentTree) takeFromCheckout(
	ctx context.Context,
	run journal.Run,
	seen *git.Inspection,
) (journal.CommitsTaken, error) {
	if seen == nil {
		var err error
		seen, err = t.code.UserTree.Inspect(ctx)
		if err != nil {
			return journal.CommitsTaken{}, err
		}
	}
	state, err := seen.State(ctx)
	if err != nil {
		return journal.CommitsTaken{}, err
	}
	taken := journal.CommitsTaken{
		From:  run.Head,
		To:    state.Head,
		Tree:  state.Tree,
		Work:  state.Work,
		Dirty: state.Dirty,
		Huge:  seen.Huge(ctx),
	}
	t.snapshot.separateCheckFiles(ctx, run, t.code.UserTree, &taken)
	if t.repo.trusted == nil {
		return taken, nil
	}
	if taken.From == taken.To {
		return taken, nil
	}
	taken.Commits, err = t.repo.trusted.Log(ctx, git.Span{From: taken.From, To: taken.To})
	return taken, err
}

// follow makes rewritten commits the history of the agent's clone, too. They are on record by then: after a kill, the
// next hand-over would not find the protected files in the clone any more, and nothing would name them.
func (t *agentTree) follow(
	ctx context.Context,
	run journal.Run,
	seen *git.Inspection,
	taken journal.CommitsTaken,
) error {
	if !t.worksInClone() {
		return nil
	}
	if seen != nil && seen.Head == taken.To {
		return nil
	}
	tree, err := t.open(ctx)
	if err != nil {
		return err
	}
	if len(taken.Refused) > 0 { // the agent continues with its own commits
		_, err = tree.Head(ctx)
	} else {
		run.Head = taken.To
		err = tree.Reset(ctx, taken.To)
	}
	if err != nil && ctx.Err() == nil { // the agent may have broken its repository
		return t.renew(ctx, run, tree)
	}
	return err
}

// How much of what an agent proposes is kept.
const (
	maxProposals   = 10
	maxPatch       = 20_000  // bytes of each
	maxProtectFile = 1 << 20 // bytes of a file that a patch is made of
)

// proposals returns the agent's changes to protected files as patches: people decide whether to apply them.
func (t *agentTree) proposals(ctx context.Context, dir string, taken journal.CommitsTaken) (all []journal.Proposal) {
	tree := untrusted.Folder{Path: dir}
	for _, name := range taken.Dropped[:min(len(taken.Dropped), maxProposals)] {
		text, err := tree.ReadFile(name, maxProtectFile)
		if err != nil {
			continue // removed, or no plain file
		}
		if t.hasSecret != nil && t.hasSecret(text) {
			continue
		}
		changed, err := t.repo.trusted.Overlay(ctx, git.Overlay{
			Onto:  taken.To,
			From:  taken.To,
			Texts: map[string][]byte{name: text},
		})
		if err != nil {
			continue
		}
		patch, cut, err := t.repo.trusted.Diff(ctx, git.Span{From: taken.To, To: changed}, maxPatch)
		if err == nil && patch != "" {
			all = append(all, journal.Proposal{Path: name, Patch: patch, Cut: cut})
		}
	}
	return all
}

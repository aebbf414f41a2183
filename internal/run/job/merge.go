package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/merging"
)

func (p *publisher) mergeRemote(ctx context.Context, run journal.Run, emit emit) error {
	return p.attempt(ctx, run, "join", emit, func() (journal.Event, error) {
		event, err := p.mergeBranch(ctx, run)
		if event != nil || err != nil {
			return event, err
		}
		base, err := p.repo.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
		if err != nil {
			return nil, err
		}
		return p.merge(ctx, run, journal.Joined{Of: journal.OfBase, With: base}, run.Head)
	})
}

func (p *publisher) mergePushed(ctx context.Context, run journal.Run) error {
	if p.remote.BranchHost == nil || p.repo.trusted == nil || run.Published.Pushed == "" {
		return nil
	}
	event, err := p.mergeFetchedBranch(ctx, run)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil { // the next push merges it
		p.record.log("what was pushed meanwhile could not be merged yet: " + fault.Told(err))
		return nil
	}
	if event == nil {
		return nil
	}
	return p.record.Append(event)
}

// restoreWork fetches work that the branch no longer contains.
func (p *publisher) restoreWork(ctx context.Context, run journal.Run) error {
	if p.remote.BranchHost == nil || p.repo.trusted == nil || run.Head == "" {
		return nil
	}
	if run.IsMerging() { // the merge begins again
		run.Head = run.Merging.Parted.From
	}
	if _, err := p.repo.trusted.Resolve(ctx, run.Head); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	if err := p.remote.BranchHost.FetchCommit(ctx, p.repo.trusted, run.Head); err != nil {
		what := fmt.Sprintf("the work of this run (%.7s) is no longer on GitHub", run.Head)
		return fault.Usage(what, "change the issue or add words to start a new run", err)
	}
	return nil
}

func (p *publisher) mergeBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	if p.remote.BranchHost == nil {
		return nil, errNoRemote
	}
	if err := p.repo.fetch(ctx, run.BaseRef, run.Branch); err != nil {
		return nil, err
	}
	return p.mergeFetchedBranch(ctx, run)
}

// mergeFetchedBranch continues on another branch if somebody rewrote this one, or set it back.
func (p *publisher) mergeFetchedBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	theirs, err := p.repo.trusted.Resolve(ctx, "refs/heads/"+run.Branch)
	if errors.Is(err, git.ErrNotFound) || theirs == run.Published.Pushed {
		return nil, nil //nolint:nilnil // nothing to merge
	}
	if err != nil {
		return nil, err
	}
	last := cmp.Or(run.Published.Pushed, run.Start)
	grew, err := p.repo.trusted.IsAncestor(ctx, last, theirs)
	if err != nil {
		return nil, err
	}
	contained, err := p.repo.trusted.IsAncestor(ctx, theirs, run.Head)
	if err != nil {
		return nil, err
	}
	if contained && (grew || run.Published.Pushed == "") {
		return nil, nil //nolint:nilnil // as above
	}
	if !grew {
		why := fmt.Sprintf("someone rewrote it: it is at %.7s, without the commits that ralph pushed", theirs)
		return journal.Branched{From: run.Branch, To: otherBranch(run, run.Head), Why: why}, nil
	}
	joined, err := p.merge(ctx, run, journal.Joined{Of: journal.OfBranch, With: theirs}, last)
	if err != nil || len(joined.Conflicts) == 0 {
		return joined, err
	}
	joined.Aside = otherBranch(run, run.Head) // saves the work outside of this machine
	return joined, p.remote.BranchHost.Push(ctx, p.repo.trusted, remote.Update{Branch: joined.Aside, SHA: run.Head})
}

// otherBranch returns a name for a branch with a commit that cannot go to the run's branch: only that commit has it.
func otherBranch(run journal.Run, sha string) string { return fmt.Sprintf("%s-%.7s", run.Branch, sha) }

// merge merges the work with what others did since last, and moves the agent's tree there. It does so before the event
// is recorded: an agent in the old tree would undo the merge.
func (p *publisher) merge(
	ctx context.Context,
	run journal.Run,
	with journal.Joined,
	last string,
) (journal.Joined, error) {
	with, err := merging.Join(ctx, p.repo.trusted, run, with, last)
	if err != nil {
		return with, err
	}
	return with, p.tree.move(ctx, with.From, with.To)
}

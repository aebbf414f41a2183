package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/merging"
	"github.com/ralph-loop/ralph/internal/suggestion"
	"github.com/ralph-loop/ralph/internal/verdict"
)

func (p *branchPublisher) mergeRemote(ctx context.Context, run journal.Run, _ verdict.MergeRemote, emit emit) error {
	return p.attempt(ctx, run, "join", emit, func() (journal.Event, error) {
		if event, err := p.mergeBranch(ctx, run); event != nil || err != nil {
			return event, err
		}
		return p.mergeBaseBranch(ctx, run)
	})
}

func (p *branchPublisher) mergePushed(ctx context.Context, run journal.Run) error {
	if p.BranchHost == nil || p.trusted == nil || run.Pushed == "" {
		return nil
	}
	event, err := p.mergeFetchedBranch(ctx, run)
	if err != nil && ctx.Err() == nil { // the next push merges it
		p.audience.Log("what was pushed meanwhile could not be merged yet: " + fault.Told(err))
		event, err = nil, nil
	}
	if event == nil || err != nil {
		return err
	}
	return p.Append(event)
}

// restoreWork fetches work that the branch no longer holds.
func (p *branchPublisher) restoreWork(ctx context.Context, run journal.Run) error {
	if p.BranchHost == nil || p.trusted == nil || run.Head == "" {
		return nil
	}
	if run.IsMerging() { // the merge begins again
		run.Head = run.Parted.From
	}
	if _, err := p.trusted.Resolve(ctx, run.Head); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	// Applying the reviewers' suggestions again makes the same commits.
	if tip, err := p.trusted.Resolve(ctx, "refs/heads/"+run.Branch); err == nil {
		if done, err := suggestion.Apply(ctx, p.trusted, suggestion.On(tip, run.Policy), run.Task, run.Plan); err != nil || done.Head == run.Head {
			return err
		}
	}
	if err := p.BranchHost.FetchCommit(ctx, p.trusted, run.Head); err != nil {
		return fault.Usage(fmt.Sprintf("the work of this run (%.7s) is no longer on GitHub", run.Head), "change the issue or add words to start a new run", err)
	}
	return nil
}

func (p *branchPublisher) mergeBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	if p.BranchHost == nil {
		return nil, errNoRemote
	}
	if err := p.fetch(ctx, run.BaseRef, run.Branch); err != nil {
		return nil, err
	}
	return p.mergeFetchedBranch(ctx, run)
}

// mergeFetchedBranch continues on another branch if somebody rewrote this one.
func (p *branchPublisher) mergeFetchedBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	theirs, err := p.trusted.Resolve(ctx, "refs/heads/"+run.Branch)
	if errors.Is(err, git.ErrNotFound) || theirs == run.Pushed {
		return nil, nil //nolint:nilnil // nothing to merge
	}
	if err != nil {
		return nil, err
	}
	if held, err := p.trusted.IsAncestor(ctx, theirs, run.Head); err != nil || held {
		return nil, err
	}
	last := cmp.Or(run.Pushed, run.Start)
	grew, err := p.trusted.IsAncestor(ctx, last, theirs)
	if err != nil {
		return nil, err
	}
	if !grew {
		return p.switchBranch(ctx, run, theirs)
	}
	joined, err := p.merge(ctx, run, journal.Joined{Of: journal.OfBranch, With: theirs}, last)
	if err != nil || len(joined.Conflicts) == 0 {
		return joined, err
	}
	joined.Aside, err = p.pushToNewBranch(ctx, run)
	return joined, err
}

func (p *branchPublisher) switchBranch(ctx context.Context, run journal.Run, theirs string) (journal.Event, error) {
	free, err := p.BranchHost.FreeBranch(ctx, p.trusted, run.Branch, run.Head)
	if err != nil {
		return nil, err
	}
	return journal.Branched{From: run.Branch, To: free, Why: fmt.Sprintf("someone rewrote it: it is at %.7s, without the commits that ralph pushed", theirs)}, nil
}

// pushToNewBranch saves the work outside of this machine.
func (p *branchPublisher) pushToNewBranch(ctx context.Context, run journal.Run) (string, error) {
	free, err := p.BranchHost.FreeBranch(ctx, p.trusted, run.Branch, run.Head)
	if err != nil {
		return "", err
	}
	return free, p.BranchHost.Push(ctx, p.trusted, free, run.Head)
}

func (p *branchPublisher) mergeBaseBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	base, err := p.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
	if err != nil {
		return nil, err
	}
	return p.merge(ctx, run, journal.Joined{Of: journal.OfBase, With: base}, run.Head)
}

// merge merges the work with what others did since last, and moves the agent's tree
// there. It does so before the event is recorded: an agent in the old tree would undo
// the merge.
func (p *branchPublisher) merge(ctx context.Context, run journal.Run, with journal.Joined, last string) (journal.Joined, error) {
	with, err := merging.Join(ctx, p.trusted, run, with, last)
	if err != nil {
		return with, err
	}
	return with, p.moveAgentTree(ctx, with.From, with.To)
}

func (s *activeRun) finishMerge(ctx context.Context, run journal.Run, taken journal.CommitsTaken) (journal.CommitsTaken, error) {
	settled, err := merging.Settle(ctx, s.trusted, run, taken)
	if err != nil || len(settled.Refused) > 0 { // the agent continues in its own tree
		return settled, err
	}
	return settled, s.moveAgentTree(ctx, taken.To, settled.To)
}

func (s *activeRun) moveAgentTree(ctx context.Context, from, to string) error {
	grown, is := s.agentDir.(*clonedTree)
	if !is || from == to {
		return nil
	}
	return grown.resetTo(ctx, to)
}

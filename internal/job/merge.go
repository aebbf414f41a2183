package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/merging"
	"github.com/ralph-loop/ralph/internal/suggestion"
)

func (s *activeRun) mergeRemote(ctx context.Context, run journal.Run, emit emit) error {
	return s.attempt(ctx, run, "join", emit, func() (journal.Event, error) {
		if event, err := s.mergeBranch(ctx, run); event != nil || err != nil {
			return event, err
		}
		base, err := s.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
		if err != nil {
			return nil, err
		}
		return s.merge(ctx, run, journal.Joined{Of: journal.OfBase, With: base}, run.Head)
	})
}

func (s *activeRun) mergePushed(ctx context.Context, run journal.Run) error {
	if s.BranchHost == nil || s.trusted == nil || run.Pushed == "" {
		return nil
	}
	event, err := s.mergeFetchedBranch(ctx, run)
	if err != nil && ctx.Err() == nil { // the next push merges it
		s.Log("what was pushed meanwhile could not be merged yet: " + fault.Told(err))
		event, err = nil, nil
	}
	if event == nil || err != nil {
		return err
	}
	return s.Append(event)
}

// restoreWork fetches work that the branch no longer holds.
func (s *activeRun) restoreWork(ctx context.Context, run journal.Run) error {
	if s.BranchHost == nil || s.trusted == nil || run.Head == "" {
		return nil
	}
	if run.IsMerging() { // the merge begins again
		run.Head = run.Parted.From
	}
	if _, err := s.trusted.Resolve(ctx, run.Head); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	// Applying the reviewers' suggestions again makes the same commits.
	if tip, err := s.trusted.Resolve(ctx, "refs/heads/"+run.Branch); err == nil {
		if head, _, err := suggestion.Apply(ctx, s.trusted, tip, run.Policy, run.Task.Remarks); err != nil || head == run.Head {
			return err
		}
	}
	if err := s.BranchHost.FetchCommit(ctx, s.trusted, run.Head); err != nil {
		return fault.Usage(fmt.Sprintf("the work of this run (%.7s) is no longer on GitHub", run.Head), "change the issue or add words to start a new run", err)
	}
	return nil
}

func (s *activeRun) mergeBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	if s.BranchHost == nil {
		return nil, errNoRemote
	}
	if err := s.fetch(ctx, run.BaseRef, run.Branch); err != nil {
		return nil, err
	}
	return s.mergeFetchedBranch(ctx, run)
}

// mergeFetchedBranch continues on another branch if somebody rewrote this one, or set it back.
func (s *activeRun) mergeFetchedBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	theirs, err := s.trusted.Resolve(ctx, "refs/heads/"+run.Branch)
	if errors.Is(err, git.ErrNotFound) || theirs == run.Pushed {
		return nil, nil //nolint:nilnil // nothing to merge
	}
	if err != nil {
		return nil, err
	}
	last := cmp.Or(run.Pushed, run.Start)
	grew, err := s.trusted.IsAncestor(ctx, last, theirs)
	if err != nil {
		return nil, err
	}
	if held, err := s.trusted.IsAncestor(ctx, theirs, run.Head); err != nil || held && (grew || run.Pushed == "") {
		return nil, err
	}
	if !grew {
		return journal.Branched{From: run.Branch, To: otherBranch(run, run.Head), Why: fmt.Sprintf("someone rewrote it: it is at %.7s, without the commits that ralph pushed", theirs)}, nil
	}
	joined, err := s.merge(ctx, run, journal.Joined{Of: journal.OfBranch, With: theirs}, last)
	if err != nil || len(joined.Conflicts) == 0 {
		return joined, err
	}
	joined.Aside = otherBranch(run, run.Head)
	return joined, s.BranchHost.Push(ctx, s.trusted, remote.Update{Branch: joined.Aside, SHA: run.Head}) // saves the work outside of this machine
}

// otherBranch returns a name for a branch with a commit that cannot go to the run's branch: only that commit has it.
func otherBranch(run journal.Run, sha string) string { return fmt.Sprintf("%s-%.7s", run.Branch, sha) }

// merge merges the work with what others did since last, and moves the agent's tree
// there. It does so before the event is recorded: an agent in the old tree would undo
// the merge.
func (s *activeRun) merge(ctx context.Context, run journal.Run, with journal.Joined, last string) (journal.Joined, error) {
	with, err := merging.Join(ctx, s.trusted, run, with, last)
	if err != nil {
		return with, err
	}
	return with, s.moveAgentTree(ctx, with.From, with.To)
}

func (s *activeRun) finishMerge(ctx context.Context, run journal.Run, taken journal.CommitsTaken) (journal.CommitsTaken, error) {
	settled, err := merging.Settle(ctx, s.trusted, run, taken)
	if err != nil || len(settled.Refused) > 0 { // the agent continues in its own tree
		return settled, err
	}
	return settled, s.moveAgentTree(ctx, taken.To, settled.To)
}

func (s *activeRun) moveAgentTree(ctx context.Context, from, to string) error {
	if !s.worksInClone() || from == to {
		return nil
	}
	return s.resetTo(ctx, to)
}

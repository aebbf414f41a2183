package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/merging"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// publishing brings the work to where people see it, and brings theirs here.
type publishing struct{ *trees }

// push pushes the branch. A refusal is recorded; the commits stay here.
func (s publishing) push(ctx context.Context, run journal.Run, step verdict.Push, emit emit) error {
	return s.attempt(ctx, run, "push", emit, func() (journal.Event, error) {
		if s.BranchHost == nil {
			return nil, errNoRemote
		}
		if run.Policy.Sign && s.Sign != nil && run.Published.Signed != run.Head {
			return s.sign(ctx, run)
		}
		update := remote.Update{Branch: run.Branch, SHA: step.SHA, Was: run.Published.Pushed}
		err := s.BranchHost.Push(ctx, s.trusted, update)
		if errors.Is(err, remote.ErrNonFastForward) {
			event, mergeErr := s.mergeBranch(ctx, run)
			if event != nil || mergeErr != nil {
				return event, mergeErr
			}
			update.Was = "" // it was deleted, or an earlier push was not recorded
			err = s.BranchHost.Push(ctx, s.trusted, update)
		}
		return journal.Pushed{Branch: run.Branch, SHA: step.SHA}, err
	})
}

// sign moves the agent's tree to the signed commits before they are recorded, as in a merge.
func (s publishing) sign(ctx context.Context, run journal.Run) (journal.Event, error) {
	signed, err := s.Sign(ctx, s.trusted, run)
	if err != nil {
		return nil, err
	}
	return signed, s.moveAgentTree(ctx, run.Head, signed.To)
}

func (s publishing) openPull(ctx context.Context, run journal.Run, emit emit) error {
	return s.attempt(ctx, run, "open", emit, func() (journal.Event, error) {
		if s.Pulls == nil {
			return nil, errNoRemote
		}
		return s.Pulls.OpenPull(ctx, run, view.Of(run).Pull)
	})
}

func (s publishing) markPullReady(ctx context.Context, run journal.Run, emit emit) error {
	return s.attempt(ctx, run, "ready", emit, func() (journal.Event, error) {
		return journal.PullReadied{Number: run.Published.Pull.Number}, s.Pulls.ReadyPull(ctx, run)
	})
}

// errNoRemote is for a policy that requires more than the job can do.
var errNoRemote = errors.New("there is nowhere to publish to")

// outage multiplies the pause after each try while the network is down: 80 seconds in all, as
// a minute without network must not leave the work of a run unpublished.
var outage = []int{1, 15, 0}

// attempt waits after a failure, so that the next attempt comes later.
func (s publishing) attempt(
	ctx context.Context,
	run journal.Run,
	act string,
	emit emit,
	do func() (journal.Event, error),
) error {
	done, err := do()
	if err == nil {
		emit(done)
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	emit(journal.PublishFailed{Act: act, Head: run.Head, Why: err.Error(), Fix: fault.Hint(err)})
	pause := min(s.Interval, 5*time.Second)
	if errors.Is(err, remote.ErrNetwork) {
		before := 0
		for _, f := range run.Published.Failures {
			if f.Act == act && f.Head == run.Head {
				before++
			}
		}
		pause *= time.Duration(outage[min(before, len(outage)-1)])
	}
	return waitUntil(ctx, pause, s.Drain)
}

// Wait waits until the pause or the context ends.
func Wait(ctx context.Context, pause time.Duration) error { return waitUntil(ctx, pause, nil) }

// waitUntil also ends when early is closed.
func waitUntil(ctx context.Context, pause time.Duration, early <-chan struct{}) error {
	select {
	case <-time.After(pause):
		return nil
	case <-early:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s publishing) mergeRemote(ctx context.Context, run journal.Run, emit emit) error {
	return s.attempt(ctx, run, "join", emit, func() (journal.Event, error) {
		event, err := s.mergeBranch(ctx, run)
		if event != nil || err != nil {
			return event, err
		}
		base, err := s.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
		if err != nil {
			return nil, err
		}
		return s.merge(ctx, run, journal.Joined{Of: journal.OfBase, With: base}, run.Head)
	})
}

func (s publishing) mergePushed(ctx context.Context, run journal.Run) error {
	if s.BranchHost == nil || s.trusted == nil || run.Published.Pushed == "" {
		return nil
	}
	event, err := s.mergeFetchedBranch(ctx, run)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil { // the next push merges it
		s.Log("what was pushed meanwhile could not be merged yet: " + fault.Told(err))
		return nil
	}
	if event == nil {
		return nil
	}
	return s.Append(event)
}

// restoreWork fetches work that the branch no longer holds.
func (s publishing) restoreWork(ctx context.Context, run journal.Run) error {
	if s.BranchHost == nil || s.trusted == nil || run.Head == "" {
		return nil
	}
	if run.IsMerging() { // the merge begins again
		run.Head = run.Merging.Parted.From
	}
	if _, err := s.trusted.Resolve(ctx, run.Head); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	if err := s.BranchHost.FetchCommit(ctx, s.trusted, run.Head); err != nil {
		what := fmt.Sprintf("the work of this run (%.7s) is no longer on GitHub", run.Head)
		return fault.Usage(what, "change the issue or add words to start a new run", err)
	}
	return nil
}

func (s publishing) mergeBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	if s.BranchHost == nil {
		return nil, errNoRemote
	}
	if err := s.fetch(ctx, run.BaseRef, run.Branch); err != nil {
		return nil, err
	}
	return s.mergeFetchedBranch(ctx, run)
}

// mergeFetchedBranch continues on another branch if somebody rewrote this one, or set it back.
func (s publishing) mergeFetchedBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	theirs, err := s.trusted.Resolve(ctx, "refs/heads/"+run.Branch)
	if errors.Is(err, git.ErrNotFound) || theirs == run.Published.Pushed {
		return nil, nil //nolint:nilnil // nothing to merge
	}
	if err != nil {
		return nil, err
	}
	last := cmp.Or(run.Published.Pushed, run.Start)
	grew, err := s.trusted.IsAncestor(ctx, last, theirs)
	if err != nil {
		return nil, err
	}
	contained, err := s.trusted.IsAncestor(ctx, theirs, run.Head)
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
	joined, err := s.merge(ctx, run, journal.Joined{Of: journal.OfBranch, With: theirs}, last)
	if err != nil || len(joined.Conflicts) == 0 {
		return joined, err
	}
	joined.Aside = otherBranch(run, run.Head) // saves the work outside of this machine
	return joined, s.BranchHost.Push(ctx, s.trusted, remote.Update{Branch: joined.Aside, SHA: run.Head})
}

// otherBranch returns a name for a branch with a commit that cannot go to the run's branch: only that commit has it.
func otherBranch(run journal.Run, sha string) string { return fmt.Sprintf("%s-%.7s", run.Branch, sha) }

// merge merges the work with what others did since last, and moves the agent's tree
// there. It does so before the event is recorded: an agent in the old tree would undo
// the merge.
func (s publishing) merge(
	ctx context.Context,
	run journal.Run,
	with journal.Joined,
	last string,
) (journal.Joined, error) {
	with, err := merging.Join(ctx, s.trusted, run, with, last)
	if err != nil {
		return with, err
	}
	return with, s.moveAgentTree(ctx, with.From, with.To)
}

func (s *trees) moveAgentTree(ctx context.Context, from, to string) error {
	if !s.worksInClone() || from == to {
		return nil
	}
	return s.resetTo(ctx, to)
}

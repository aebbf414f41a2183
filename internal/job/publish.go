package job

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/verdict"
	"github.com/ralph-loop/ralph/internal/view"
)

// push pushes the branch. A refusal is recorded; the commits stay here.
func (s *activeRun) push(ctx context.Context, run journal.Run, step verdict.Push, emit emit) error {
	return s.attempt(ctx, run, "push", emit, func() (journal.Event, error) {
		if s.BranchHost == nil {
			return nil, errNoRemote
		}
		if run.Policy.Sign && s.Sign != nil && run.Signed != run.Head {
			return s.sign(ctx, run)
		}
		update := remote.Update{Branch: run.Branch, SHA: step.SHA, Was: run.Pushed}
		err := s.BranchHost.Push(ctx, s.trusted, update)
		if errors.Is(err, remote.ErrNonFastForward) {
			if event, failed := s.mergeBranch(ctx, run); event != nil || failed != nil {
				return event, failed
			}
			update.Was = "" // it was deleted, or an earlier push was not recorded
			err = s.BranchHost.Push(ctx, s.trusted, update)
		}
		return journal.Pushed{Branch: run.Branch, SHA: step.SHA}, err
	})
}

// sign moves the agent's tree to the signed commits before they are recorded, as in a merge.
func (s *activeRun) sign(ctx context.Context, run journal.Run) (journal.Event, error) {
	signed, err := s.Sign(ctx, s.trusted, run)
	if err != nil {
		return nil, err
	}
	return signed, s.moveAgentTree(ctx, run.Head, signed.To)
}

func (s *activeRun) openPull(ctx context.Context, run journal.Run, emit emit) error {
	return s.attempt(ctx, run, "open", emit, func() (journal.Event, error) {
		if s.Pulls == nil {
			return nil, errNoRemote
		}
		return s.Pulls.OpenPull(ctx, run, view.Of(run).Pull)
	})
}

func (s *activeRun) markPullReady(ctx context.Context, run journal.Run, emit emit) error {
	return s.attempt(ctx, run, "ready", emit, func() (journal.Event, error) {
		return journal.PullReadied{Number: run.Pull.Number}, s.Pulls.ReadyPull(ctx, run)
	})
}

// errNoRemote is for a policy that requires more than the job can do.
var errNoRemote = errors.New("there is nowhere to publish to")

// outage multiplies the pause after each try while the network is down: 80 seconds in all, as
// a minute without network must not leave the work of a run unpublished.
var outage = []int{1, 15, 0}

// attempt waits after a failure, so that the next attempt comes later.
func (s *activeRun) attempt(ctx context.Context, run journal.Run, act string, emit emit, do func() (journal.Event, error)) error {
	done, err := do()
	switch {
	case err == nil:
		emit(done)
		return nil
	case ctx.Err() != nil:
		return err
	}
	emit(journal.PublishFailed{Act: act, Head: run.Head, Why: err.Error(), Fix: fault.Hint(err)})
	pause := min(s.Interval, 5*time.Second)
	if errors.Is(err, remote.ErrNetwork) {
		before := 0
		for _, f := range run.Failures {
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

// workflowsFolder holds files for which a token needs an extra permission.
const workflowsFolder = ".github/workflows"

// pushWithoutWorkflows pushes refused work without its workflows to a new branch, from which
// people can continue. Nothing proved this part alone.
func (s *activeRun) pushWithoutWorkflows(ctx context.Context, run journal.Run) (branch string, left []string, err error) {
	if !slices.ContainsFunc(run.Failures, func(f journal.PublishFailed) bool { return remote.OfWorkflows(f.Why) }) || s.BranchHost == nil {
		return "", nil, nil
	}
	base, err := s.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
	if err != nil {
		return "", nil, err
	}
	message := git.Message{Subject: "ralph: the work without its workflows", Trailers: run.Trailers(""), SignOff: run.Policy.SignOff}
	rest, err := s.trusted.LeaveOut(ctx, git.Span{From: base, To: run.Head}, workflowsFolder, message)
	if err != nil || rest.SHA == "" {
		return "", nil, err
	}
	branch = otherBranch(run, rest.SHA)
	return branch, rest.Left, s.BranchHost.Push(ctx, s.trusted, remote.Update{Branch: branch, SHA: rest.SHA})
}

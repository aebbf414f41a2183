package job

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/verdict"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// Remote is where the work and the run's own files are published.
type Remote struct {
	BranchHost BranchHost // nil: nothing is pushed
	// Sign makes commits again with a signature; nil: no commit is signed.
	Sign  func(ctx context.Context, from *git.Trusted, run journal.Run) (journal.Signed, error)
	Pulls Pulls // nil: only a branch is pushed
	// RunStore replaces a run's own files for another machine. ErrTakenOver says that another job
	// saved some since. nil: the run is on this machine alone.
	RunStore  func(ctx context.Context, run journal.Run, files map[string][]byte) (journal.Shelved, error)
	HasSecret func(text []byte) bool // checks what is pushed; nil: there are no secrets
	Comment   func(context.Context, view.Texts) (journal.CommentPosted, error)
}

// BranchHost is the repository to which the branch is pushed.
type BranchHost interface {
	Push(ctx context.Context, from *git.Trusted, u remote.Update) error
	// FetchCommit fetches a commit that was pushed before.
	FetchCommit(ctx context.Context, to *git.Trusted, sha string) error
}

// Pulls opens pull requests.
type Pulls interface {
	OpenPull(ctx context.Context, run journal.Run, text view.Pull) (journal.PullOpened, error)
	ReadyPull(ctx context.Context, run journal.Run) error
}

// publisher brings the work to where people see it, and brings theirs to the run.
type publisher struct {
	job    *Job
	remote Remote
	record *record
	repo   *repository
	tree   *agentTree
}

// postComment only logs errors. A resumed run looks again: the comment may have been deleted.
func (p *publisher) postComment(ctx context.Context) error {
	if p.remote.Comment == nil {
		return nil
	}
	posted, err := p.remote.Comment(ctx, view.Of(p.record.Run()))
	if err != nil {
		p.record.log("could not create the progress comment: " + fault.Told(err))
		return nil
	}
	if known := p.record.Run().Published.Comment; known != nil && *known == posted {
		return nil
	}
	return p.record.Append(posted)
}

// push pushes the branch. A refusal is recorded; the commits stay here.
func (p *publisher) push(ctx context.Context, run journal.Run, step verdict.Push, emit emit) error {
	return p.attempt(ctx, run, "push", emit, func() (journal.Event, error) {
		if p.remote.BranchHost == nil {
			return nil, errNoRemote
		}
		if run.Policy.Sign && p.remote.Sign != nil && run.Published.Signed != run.Head {
			return p.sign(ctx, run)
		}
		update := remote.Update{Branch: run.Branch, SHA: step.SHA, Was: run.Published.Pushed}
		err := p.remote.BranchHost.Push(ctx, p.repo.trusted, update)
		if errors.Is(err, remote.ErrNonFastForward) {
			event, mergeErr := p.mergeBranch(ctx, run)
			if event != nil || mergeErr != nil {
				return event, mergeErr
			}
			update.Was = "" // it was deleted, or an earlier push was not recorded
			err = p.remote.BranchHost.Push(ctx, p.repo.trusted, update)
		}
		return journal.Pushed{Branch: run.Branch, SHA: step.SHA}, err
	})
}

// sign moves the agent's tree to the signed commits before they are recorded, as in a merge.
func (p *publisher) sign(ctx context.Context, run journal.Run) (journal.Event, error) {
	signed, err := p.remote.Sign(ctx, p.repo.trusted, run)
	if err != nil {
		return nil, err
	}
	return signed, p.tree.move(ctx, run.Head, signed.To)
}

func (p *publisher) openPull(ctx context.Context, run journal.Run, emit emit) error {
	return p.attempt(ctx, run, "open", emit, func() (journal.Event, error) {
		if p.remote.Pulls == nil {
			return nil, errNoRemote
		}
		return p.remote.Pulls.OpenPull(ctx, run, view.Of(run).Pull)
	})
}

func (p *publisher) markPullReady(ctx context.Context, run journal.Run, emit emit) error {
	return p.attempt(ctx, run, "ready", emit, func() (journal.Event, error) {
		return journal.PullReadied{Number: run.Published.Pull.Number}, p.remote.Pulls.ReadyPull(ctx, run)
	})
}

// errNoRemote is for a policy that requires more than the job can do.
var errNoRemote = errors.New("there is nowhere to publish to")

// outage multiplies the pause after each try while the network is down: 80 seconds in all, as
// a minute without network must not leave the work of a run unpublished.
var outage = []int{1, 15, 0}

// attempt waits after a failure, so that the next attempt comes later.
func (p *publisher) attempt(
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
	pause := min(p.record.audience.Interval, 5*time.Second)
	if errors.Is(err, remote.ErrNetwork) {
		before := 0
		for _, f := range run.Published.Failures {
			if f.Act == act && f.Head == run.Head {
				before++
			}
		}
		pause *= time.Duration(outage[min(before, len(outage)-1)])
	}
	return waitUntil(ctx, pause, p.job.Drain)
}

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

// publishing brings the work to GitHub, and what others did there to the work.
type publishing struct {
	Remote
	*record
	*programRepo
	follow func(ctx context.Context, from, to string) error // brings the agent's tree to a commit
}

func (s *site) publishing() *publishing {
	return &publishing{s.Remote, s.record, s.programRepo, s.follow}
}

// push brings the branch to where the work stands. What GitHub refuses is
// written down; the commits are safe here.
func (p *publishing) push(ctx context.Context, run journal.Run, step verdict.Push, emit emit) error {
	return p.attempt(ctx, run, "push", emit, func() (journal.Event, error) {
		if p.Hub == nil {
			return nil, errNowhere
		}
		if run.Policy.Sign && p.Signer != nil && run.Signed != run.Head {
			return p.sign(ctx, run)
		}
		err := p.Hub.Push(ctx, p.trusted, run.Branch, step.SHA)
		if errors.Is(err, remote.ErrNonFastForward) {
			return p.overtaken(ctx, run, err)
		}
		return journal.Pushed{Branch: run.Branch, SHA: step.SHA}, err
	})
}

// sign has the newest commits signed. The agent's tree stands on what they became
// before that is on record, as in a merge.
func (p *publishing) sign(ctx context.Context, run journal.Run) (journal.Event, error) {
	signed, err := p.Signer.Sign(ctx, p.trusted, run)
	if err != nil {
		return nil, err
	}
	return signed, p.follow(ctx, run.Head, signed.To)
}

// overtaken is what comes of a push where others have pushed before.
func (p *publishing) overtaken(ctx context.Context, run journal.Run, refused error) (journal.Event, error) {
	event, err := p.meetBranch(ctx, run)
	if event == nil && err == nil {
		err = refused
	}
	return event, err
}

func (p *publishing) openPull(ctx context.Context, run journal.Run, _ verdict.OpenPull, emit emit) error {
	return p.attempt(ctx, run, "open", emit, func() (journal.Event, error) {
		if p.Pulls == nil {
			return nil, errNowhere
		}
		return p.Pulls.OpenPull(ctx, run, view.Of(run).Pull)
	})
}

func (p *publishing) readyPull(ctx context.Context, run journal.Run, _ verdict.MarkPullReady, emit emit) error {
	return p.attempt(ctx, run, "ready", emit, func() (journal.Event, error) {
		return journal.PullReadied{Number: run.Pull.Number}, p.Pulls.ReadyPull(ctx, run)
	})
}

// errNowhere is for a policy that asks for more than the job can do.
var errNowhere = errors.New("there is nowhere to publish to")

// attempt does one thing on GitHub and writes down how it went; after a
// failure the next attempt waits a little.
func (p *publishing) attempt(ctx context.Context, run journal.Run, act string, emit emit, do func() (journal.Event, error)) error {
	done, err := do()
	switch {
	case err == nil:
		emit(done)
		return nil
	case ctx.Err() != nil:
		return err
	}
	emit(journal.PublishFailed{Act: act, Head: run.Head, Why: err.Error(), Fix: fault.Hint(err)})
	return Wait(ctx, min(p.people.Every, 5*time.Second))
}

// Wait is a pause that ends with the context.
func Wait(ctx context.Context, pause time.Duration) error { return wait(ctx, pause, nil) }

// wait ends early, too, where there is such a thing.
func wait(ctx context.Context, pause time.Duration, early <-chan struct{}) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-early:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// workflows are files that a token needs a permission of its own for.
const workflows = ".github/workflows"

// spare pushes, to a branch of its own, what GitHub takes of work that it refused
// as a whole: all but the workflows that people brought into it. It was never
// proven so, and is for people to go on with.
func (p *publishing) spare(ctx context.Context, run journal.Run) (branch string, left []string, err error) {
	if !slices.ContainsFunc(run.Failures, func(f journal.PublishFailed) bool { return remote.OfWorkflows(f.Why) }) || p.Hub == nil {
		return "", nil, nil
	}
	base, err := p.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
	if err != nil {
		return "", nil, err
	}
	rest, err := p.trusted.LeaveOut(ctx, git.LeaveOut{
		Span: git.Span{From: base, To: run.Head}, Folder: workflows,
		Message: git.Message{Subject: "ralph: the work without its workflows", Trailers: run.Trailers(""), SignOff: run.Policy.SignOff},
	})
	if err != nil || rest.SHA == "" {
		return "", nil, err
	}
	free, err := p.Hub.Free(ctx, p.trusted, run.Branch, rest.SHA)
	if err != nil {
		return "", nil, err
	}
	return free, rest.Left, p.Hub.Push(ctx, p.trusted, free, rest.SHA)
}

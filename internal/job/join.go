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

// join looks whether others have gone on with the branch, and then whether they
// have with the base; one of the two is merged at a time.
func (p *publishing) join(ctx context.Context, run journal.Run, _ verdict.MergeRemote, emit emit) error {
	return p.attempt(ctx, run, "join", emit, func() (journal.Event, error) {
		if event, err := p.meetBranch(ctx, run); event != nil || err != nil {
			return event, err
		}
		return p.meetBase(ctx, run)
	})
}

// rejoin is for a run that continues: people may have pushed in between.
func (p *publishing) rejoin(ctx context.Context, run journal.Run) error {
	if p.Hub == nil || p.trusted == nil || run.Pushed == "" {
		return nil
	}
	event, err := p.merged(ctx, run)
	if err != nil && ctx.Err() == nil { // the next push will come to it
		p.people.Log("what was pushed meanwhile could not be merged yet: " + fault.Told(err))
		event, err = nil, nil
	}
	if event == nil || err != nil {
		return err
	}
	return p.Append(event)
}

// bring fetches the work where the branch does not hold it: it lies aside, or
// somebody has rewritten the branch.
func (p *publishing) bring(ctx context.Context, run journal.Run) error {
	if p.Hub == nil || p.trusted == nil || run.Head == "" {
		return nil
	}
	if run.Merging() { // which is begun anew
		run.Head = run.Parted.From
	}
	if _, err := p.trusted.Resolve(ctx, run.Head); !errors.Is(err, git.ErrNotFound) {
		return err
	}
	// What reviewers suggested is made again: the same commits come of it.
	if tip, err := p.trusted.Resolve(ctx, "refs/heads/"+run.Branch); err == nil {
		if done, err := suggestion.Apply(ctx, p.trusted, suggestion.On(tip, run.Policy), run.Task, run.Plan); err != nil || done.Head == run.Head {
			return err
		}
	}
	if err := p.Hub.Bring(ctx, p.trusted, run.Head); err != nil {
		return fault.Usage(fmt.Sprintf("the work of this run (%.7s) is no longer on GitHub", run.Head), "change the issue or add words to start a new run", err)
	}
	return nil
}

// meetBranch is what became of the branch elsewhere; nil: nothing.
func (p *publishing) meetBranch(ctx context.Context, run journal.Run) (journal.Event, error) {
	if p.Hub == nil {
		return nil, errNowhere
	}
	if err := p.fetch(ctx, run.BaseRef, run.Branch); err != nil {
		return nil, err
	}
	return p.merged(ctx, run)
}

// merged is the branch as it was fetched and the work in one. A branch that
// holds no more what it held is somebody else's now: the work goes to another.
func (p *publishing) merged(ctx context.Context, run journal.Run) (journal.Event, error) {
	theirs, err := p.trusted.Resolve(ctx, "refs/heads/"+run.Branch)
	if errors.Is(err, git.ErrNotFound) || theirs == run.Pushed {
		return nil, nil //nolint:nilnil // nothing has happened
	}
	if err != nil {
		return nil, err
	}
	if held, err := p.trusted.Follows(ctx, theirs, run.Head); err != nil || held {
		return nil, err
	}
	last := cmp.Or(run.Pushed, run.Start)
	grew, err := p.trusted.Follows(ctx, last, theirs)
	if err != nil {
		return nil, err
	}
	if !grew {
		return p.leaveBranch(ctx, run, theirs)
	}
	joined, err := p.merge(ctx, run, journal.Joined{Of: journal.OfBranch, With: theirs}, last)
	if err != nil || len(joined.Conflicts) == 0 {
		return joined, err
	}
	joined.Aside, err = p.setAside(ctx, run)
	return joined, err
}

// leaveBranch has the work go to a branch of its own.
func (p *publishing) leaveBranch(ctx context.Context, run journal.Run, theirs string) (journal.Event, error) {
	free, err := p.Hub.Free(ctx, p.trusted, run.Branch, run.Head)
	if err != nil {
		return nil, err
	}
	return journal.Branched{From: run.Branch, To: free, Why: fmt.Sprintf("someone rewrote it: it is at %.7s, without the commits that ralph pushed", theirs)}, nil
}

// setAside pushes the work to another branch, so that it is not on this machine
// alone.
func (p *publishing) setAside(ctx context.Context, run journal.Run) (string, error) {
	free, err := p.Hub.Free(ctx, p.trusted, run.Branch, run.Head)
	if err != nil {
		return "", err
	}
	return free, p.Hub.Push(ctx, p.trusted, free, run.Head)
}

// meetBase is the base as it was fetched and the work in one.
func (p *publishing) meetBase(ctx context.Context, run journal.Run) (journal.Event, error) {
	base, err := p.trusted.Resolve(ctx, "refs/heads/"+run.BaseRef)
	if err != nil {
		return nil, err
	}
	return p.merge(ctx, run, journal.Joined{Of: journal.OfBase, With: base}, run.Head)
}

// merge makes one of the work and what others did since last, and has the
// agent's tree stand there. That comes before the record: an agent that works on
// what is on record and not in its tree would take it back.
func (p *publishing) merge(ctx context.Context, run journal.Run, with journal.Joined, last string) (journal.Joined, error) {
	with, err := merging.Join(ctx, p.trusted, run, with, last)
	if err != nil {
		return with, err
	}
	return with, p.follow(ctx, with.From, with.To)
}

// settle makes a merge of what the agent made of one that the program began.
func (s *site) settle(ctx context.Context, run journal.Run, taken journal.CommitsTaken) (journal.CommitsTaken, error) {
	settled, err := merging.Settle(ctx, s.trusted, run, taken)
	if err != nil || len(settled.Refused) > 0 { // the agent goes on with its own
		return settled, err
	}
	return settled, s.follow(ctx, taken.To, settled.To)
}

// follow brings the agent's tree, where there is one, to what came out.
func (s *site) follow(ctx context.Context, from, to string) error {
	grown, is := s.ground.(*apart)
	if !is || from == to {
		return nil
	}
	return grown.follow(ctx, to)
}

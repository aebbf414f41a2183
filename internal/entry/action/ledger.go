package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/quota"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/ledger"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
)

// accounts enters this job's run into the repository's ledger, and its cost when it has ended.
type accounts struct {
	client  *github.Client
	machine *machine
	remote  remote.Repository
	now     func() time.Time
	hard    <-chan struct{} // closed: end now
	entry   *ledger.Entry   // of this job; nil: there is none
}

func (a *accounts) open(ctx context.Context) (ledger.Account, error) {
	store, err := a.machine.store(ctx)
	return ledger.Account{Remote: a.remote, Store: store, Pause: randomPause, Now: a.now}, err
}

// randomPause keeps those who began at the same moment apart.
func randomPause(ctx context.Context) error {
	return job.Wait(ctx, retryPause/10+rand.N(retryPause/2)) //nolint:gosec // spreads load, keeps no secret
}

// enter declines a run for which the limits of the repository leave no room.
func (a *accounts) enter(ctx context.Context, asked job.NewRun, old journal.Run) error {
	limits := a.machine.inputs.Quota
	if limits == (quota.Limits{}) {
		return nil
	}
	e, err := a.newEntry(ctx, asked, old)
	if err != nil {
		return err
	}
	var open []string
	if limits.Pulls > 0 && e.Branch != "" {
		if open, err = a.client.OpenPulls(ctx, a.machine.inputs.BranchPrefix); err != nil {
			return err
		}
	}
	refusal, err := e.Admit(ctx, limits, open)
	switch {
	case refusal != nil:
		return declinedError{"Not now: " + refusal.String() + "."}
	case err == nil:
		a.entry = e
	case errors.Is(err, remote.ErrRefused) || errors.Is(err, remote.ErrAuth):
		return fault.Usage("no work started: the limits of this repository cannot be enforced",
			"let the job's token write to "+quota.Ref, err)
	}
	return err
}

func (a *accounts) newEntry(ctx context.Context, asked job.NewRun, old journal.Run) (*ledger.Entry, error) {
	account, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	attempt, _ := strconv.ParseInt(a.machine.env.get("GITHUB_RUN_ATTEMPT"), 10, 64)
	longest := max(asked.Policy.Limits.Run.Std(), quota.LongestJob) // on a machine of one's own, a job may take longer
	e := &ledger.Entry{
		Change: account.Change,
		Ended:  a.client.JobEnded,
		Now:    a.now,
		Began:  a.now().UTC(),
		Old:    old,
		Entry: quota.Entry{
			Job:     a.machine.env.job,
			Attempt: attempt,
			Run:     cmp.Or(old.ID, asked.Run),
			Page:    a.machine.env.log(),
			Held:    asked.Policy.Limits.CostUSD,
			Until:   a.now().Add(longest + 10*time.Minute).UTC(),
		},
	}
	if !asked.Policy.NoPull {
		e.Branch = cmp.Or(old.Branch, asked.Branch)
	}
	return e, nil
}

// leave enters what the run did cost.
func (a *accounts) leave(ctx context.Context, run journal.Run) error {
	e := a.entry
	if e == nil || process.IsClosed(a.hard) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
	defer cancel()
	if err := e.Leave(ctx, run); err != nil {
		return fmt.Errorf("could not record the cost; the ledger counts %.2f dollars instead: %w", e.Held, err)
	}
	return nil
}

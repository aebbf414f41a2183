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
	"github.com/ralph-loop/ralph/internal/hub/ledger"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/run/job"
)

func (h *handler) openAccount(ctx context.Context) (ledger.Account, error) {
	store, err := h.store(ctx)
	return ledger.Account{Remote: h.host.remote(), Store: store, Pause: randomPause, Now: h.Now}, err
}

// randomPause keeps those who began at the same moment apart.
func randomPause(ctx context.Context) error {
	return job.Wait(ctx, retryPause/10+rand.N(retryPause/2)) //nolint:gosec // spreads load, keeps no secret
}

func (h *handler) enterLedger(ctx context.Context, asked *job.NewRun, old journal.Run) error {
	limits := h.inputs.Quota
	if limits == (quota.Limits{}) {
		return nil
	}
	e, err := h.openLedger(ctx, *asked, old)
	if err != nil {
		return err
	}
	var open []string
	if limits.Pulls > 0 && e.Branch != "" {
		if open, err = h.client.OpenPulls(ctx, h.inputs.BranchPrefix); err != nil {
			return err
		}
	}
	refusal, err := e.Admit(ctx, limits, open)
	switch {
	case refusal != nil:
		return declinedError{"Not now: " + refusal.String() + "."}
	case err == nil:
		h.ledgerEntry = e
	case errors.Is(err, remote.ErrRefused) || errors.Is(err, remote.ErrAuth):
		h.noteLimitsUnknown(asked, err)
		return nil
	}
	return err
}

// noteLimitsUnknown reports limits that cannot be enforced.
func (h *handler) noteLimitsUnknown(asked *job.NewRun, err error) {
	const hint = "let the job's token write to " + quota.Ref
	what := "the limits of this repository are not kept: " + err.Error()
	h.say(what)
	asked.Notes = append(asked.Notes, journal.Noted{What: what, Hint: hint})
}

func (h *handler) openLedger(ctx context.Context, asked job.NewRun, old journal.Run) (*ledger.Entry, error) {
	account, err := h.openAccount(ctx)
	if err != nil {
		return nil, err
	}
	attempt, _ := strconv.ParseInt(h.Getenv("GITHUB_RUN_ATTEMPT"), 10, 64)
	longest := cmp.Or(asked.Policy.Limits.Run.Std(), quota.LongestJob) + 10*time.Minute
	e := &ledger.Entry{
		Change: account.Change,
		Ended:  h.client.JobEnded,
		Works:  h.client.JobWorks,
		Now:    h.Now,
		Began:  h.Now().UTC(),
		Old:    old,
		Entry: quota.Entry{
			Job:     h.env.Job,
			Attempt: attempt,
			Run:     cmp.Or(old.ID, asked.Run),
			Page:    h.env.log(),
			Held:    asked.Policy.Limits.CostUSD,
			Until:   h.Now().Add(longest).UTC(),
		},
	}
	if !asked.Policy.NoPull {
		e.Branch = cmp.Or(old.Branch, asked.Branch)
	}
	if pull := cmp.Or(old.Published.Pull, asked.Pull); pull != nil {
		e.Pull = quota.Pull{Number: pull.Number, Branch: e.Branch, Opened: e.Began}
		e.Worker = quota.PullRun{ID: e.Run, Agent: asked.Policy.Agent}
	}
	return e, nil
}

func (h *handler) leaveLedger(ctx context.Context, run journal.Run) {
	e := h.ledgerEntry
	if e == nil || process.IsClosed(h.Hard) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWordsTime)
	defer cancel()
	if err := e.Leave(ctx, run); err != nil {
		h.noteReport(fmt.Errorf("could not record the cost; the ledger counts %.2f dollars instead: %w", e.Held, err))
	}
}

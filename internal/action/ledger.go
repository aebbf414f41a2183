package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/config"
	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/job"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/ledger"
	"github.com/ralph-loop/ralph/internal/quota"
)

// retrying is a ledger that is read again where GitHub cannot be reached.
type retrying struct{ *ledger.Account }

// Look reads the book.
func (r retrying) Look(ctx context.Context) ([]byte, error) {
	return patiently(ctx, breath, func() ([]byte, error) { return r.Account.Look(ctx) })
}

// account is the repository's ledger as this job reaches it.
func (v *visit) account(ctx context.Context) (retrying, error) {
	store, err := v.store(ctx)
	return retrying{&ledger.Account{Remote: v.hub.remote, Store: store, Now: v.Now}}, err
}

// pause keeps those who began at the same moment apart.
func pause(ctx context.Context) error {
	return job.Wait(ctx, breath/10+rand.N(breath/2)) //nolint:gosec // spreads load, keeps no secret
}

// hold brings the inputs down to what the organisation allows.
func (v *visit) hold(ctx context.Context) error {
	if !v.command.Verb.UsesAgent() {
		return nil
	}
	text, found, err := v.client.Beside(ctx, config.OrgPolicyRepo, config.OrgPolicyFile)
	if err != nil || !found {
		return err
	}
	owner := v.trigger.Repo.Owner
	allowed, err := config.ReadOrgPolicy(owner, text)
	if err != nil {
		return err
	}
	notes, err := allowed.Enforce(owner, &v.inputs)
	for _, note := range notes {
		v.aside(note, "")
	}
	return err
}

// enter puts the job into the ledger, or declines it.
func (v *visit) enter(ctx context.Context, asked *job.NewRun, old journal.Run) error {
	limits := v.inputs.Quota
	if limits == (quota.Limits{}) {
		return nil
	}
	e, err := v.openLedger(ctx, *asked, old)
	if err != nil {
		return err
	}
	var open []string
	if limits.Pulls > 0 && e.Branch != "" {
		if open, err = v.openPulls(ctx); err != nil {
			return err
		}
	}
	refusal, err := e.Admit(ctx, limits, open)
	switch {
	case refusal != nil:
		return declined{"Not now: " + refusal.String() + "."}
	case err == nil:
		v.entered = e
	case errors.Is(err, remote.ErrRefused) || errors.Is(err, remote.ErrAuth):
		return v.unkept(asked, err)
	}
	return err
}

// unkept is what comes of limits that cannot be kept: people are told, and where
// they are an organisation's nothing begins.
func (v *visit) unkept(asked *job.NewRun, err error) error {
	const hint = "let the job's token write to " + quota.Ref
	if v.inputs.Quota.Must {
		return fault.Usage("what "+v.trigger.Repo.Owner+" allows per day cannot be enforced", hint, err)
	}
	what := "the limits of this repository (max-cost-per-day, max-runs, max-open-prs) are not kept: " + err.Error()
	v.say(what)
	asked.Notes = append(asked.Notes, journal.Noted{What: what, Hint: hint})
	return nil
}

func (v *visit) openLedger(ctx context.Context, asked job.NewRun, old journal.Run) (*ledger.Entry, error) {
	account, err := v.account(ctx)
	number, _ := strconv.ParseInt(v.env.RunID, 10, 64)
	attempt, _ := strconv.ParseInt(v.env.Attempt, 10, 64)
	e := &ledger.Entry{Store: account, Pause: pause, Ended: v.client.JobEnded, Now: v.Now, Began: v.Now().UTC(), Old: old, Entry: quota.Entry{
		Job: number, Attempt: attempt, Run: cmp.Or(old.ID, asked.ID), Page: v.env.log(), Held: asked.Policy.Limits.CostUSD,
		Until: v.Now().Add(cmp.Or(asked.Policy.Limits.Run.Std(), quota.LongestJob) + 10*time.Minute).UTC(),
	}}
	if !asked.Policy.NoPull {
		e.Branch = cmp.Or(old.Branch, asked.Branch)
	}
	if pull := cmp.Or(old.Pull, asked.Pull); pull != nil {
		e.Pull = quota.Pull{Number: pull.Number, Branch: e.Branch, Opened: e.Began}
		e.Worker = quota.PullRun{ID: e.Run, Agent: asked.Policy.Agent}
	}
	return e, err
}

// openPulls are the branches of ralph's that have an open pull request.
func (v *visit) openPulls(ctx context.Context) ([]string, error) {
	branches, err := v.client.OpenPulls(ctx)
	var ours []string
	for _, branch := range branches {
		if strings.HasPrefix(branch, v.inputs.BranchPrefix) {
			ours = append(ours, branch)
		}
	}
	return ours, err
}

// leave writes into the ledger what the job has spent.
func (v *visit) leave(ctx context.Context, run journal.Run) {
	e := v.entered
	if e == nil || v.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := e.Leave(ctx, run); err != nil {
		v.missing(fmt.Errorf("could not record the cost; the ledger counts %.2f dollars instead: %w", e.Held, err))
	}
}

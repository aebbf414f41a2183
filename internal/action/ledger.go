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

	"github.com/ralph-loop/ralph/internal/aftercare"
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

// entered is a job's entry in the ledger, until it is over.
type entered struct {
	retrying
	entry  quota.Entry
	before float64 // what the run that is gone on with had cost
}

// hold brings the inputs down to what the organisation allows.
func (v *visit) hold(ctx context.Context) error {
	if !v.command.Verb.Agent() {
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
	notes, err := allowed.Hold(owner, &v.inputs)
	for _, note := range notes {
		v.aside(note, "")
	}
	return err
}

// enter puts the job into the ledger, or declines it.
func (v *visit) enter(ctx context.Context, asked *job.Asked, old journal.Run) error {
	limits := v.inputs.Ledger
	if limits == (quota.Limits{}) {
		return nil
	}
	e, err := v.openLedger(ctx, *asked, old)
	if err != nil {
		return err
	}
	want := quota.Asked{Entry: e.entry, Limits: limits}
	if limits.Pulls > 0 && e.entry.Branch != "" {
		if want.Open, err = v.openPulls(ctx); err != nil {
			return err
		}
	}
	err = v.admit(ctx, e, want)
	switch {
	case err == nil:
		v.entered = e
	case errors.Is(err, remote.ErrRefused) || errors.Is(err, remote.ErrAuth):
		return v.unkept(asked, err)
	}
	return err
}

// unkept is what comes of limits that cannot be kept: people are told, and where
// they are an organisation's nothing begins.
func (v *visit) unkept(asked *job.Asked, err error) error {
	const hint = "let the job's token write to " + quota.Ref
	if v.inputs.Ledger.Must {
		return fault.Usage("what "+v.trigger.Repo.Owner+" allows per day cannot be enforced", hint, err)
	}
	what := "the limits of this repository (max-cost-per-day, max-runs, max-open-prs) are not kept: " + err.Error()
	v.say(what)
	asked.Notes = append(asked.Notes, journal.Noted{What: what, Hint: hint})
	return nil
}

func (v *visit) openLedger(ctx context.Context, asked job.Asked, old journal.Run) (*entered, error) {
	account, err := v.account(ctx)
	if err != nil {
		return nil, err
	}
	number, _ := strconv.ParseInt(v.env.RunID, 10, 64)
	attempt, _ := strconv.ParseInt(v.env.Attempt, 10, 64)
	e := &entered{before: old.Charged(), retrying: account, entry: quota.Entry{
		Job: number, Attempt: attempt, Run: asked.ID, Page: v.env.log(), Held: asked.Policy.Limits.CostUSD,
		Until: v.Now().Add(cmp.Or(asked.Policy.Limits.Run.Std(), quota.LongestJob) + 10*time.Minute).UTC(),
	}}
	if !asked.Policy.NoPull {
		e.entry.Branch = cmp.Or(old.Branch, asked.Branch)
	}
	return e, nil
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

// admit asks once more where a job that holds a place may have been killed.
func (v *visit) admit(ctx context.Context, e *entered, want quota.Asked) error {
	return quota.Change(ctx, e.retrying, pause, func(book quota.Book) (quota.Book, error) {
		next, refusal := book.Admit(want, v.Now())
		if refusal != nil && refusal.Full {
			var err error
			if book, err = v.bury(ctx, book); err != nil {
				return book, err
			}
			next, refusal = book.Admit(want, v.Now())
		}
		if refusal != nil {
			return next, declined{"Not now: " + refusal.String() + "."}
		}
		return next, nil
	})
}

// bury ends the entries of jobs that GitHub says are over: a job that is killed
// writes nothing.
func (v *visit) bury(ctx context.Context, book quota.Book) (quota.Book, error) {
	for _, e := range book.AtWork(v.Now()) {
		ended, known, err := v.client.JobEnded(ctx, e.Job)
		if err != nil {
			return book, err
		}
		if known && ended {
			book = book.End(e.Job, e.Run, nil, v.Now())
		}
	}
	return book, nil
}

// spent is what the job spent. It is nil where tokens were used whose price is
// unknown, and less than the job held is charged for them: then the day is charged
// what the job held.
func (e *entered) spent(run journal.Run) *float64 {
	usd := max(0, run.Charged()-e.before)
	if !run.CostKnown && run.Usage.Tokens() > 0 && usd < e.entry.Held {
		return nil
	}
	return &usd
}

// leave writes into the ledger what the job has spent.
func (v *visit) leave(ctx context.Context, outcome Outcome) {
	e := v.entered
	if e == nil || v.ended() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	spent := e.spent(outcome.Run)
	err := quota.Change(ctx, e.retrying, pause, func(book quota.Book) (quota.Book, error) {
		return aftercare.Worked(book.End(e.entry.Job, e.entry.Run, spent, v.Now()), outcome.Run, v.Now()), nil
	})
	if err != nil {
		v.say(fmt.Sprintf("could not record the cost; the ledger counts %.2f dollars instead: %v", e.entry.Held, err))
	}
}

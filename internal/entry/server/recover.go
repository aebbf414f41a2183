package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

const (
	maxAge     = 24 * time.Hour   // of a delivery; people repeat older requests
	settleTime = 10 * time.Minute // more than a stopping server needs for the deliveries that it accepted
)

func (d *service) watch(ctx context.Context) {
	tick := time.Tick(d.Limits.LogInterval)
	for {
		if err := d.catchUp(ctx); err != nil && ctx.Err() == nil {
			d.unfinished.Store(true)
			d.Log.Warn("cannot read missed deliveries", "error", err.Error())
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// logStart returns the time from which GitHub's log can have unhandled deliveries.
func (d *service) logStart() time.Time {
	since := d.Now().Add(-maxAge)
	if d.unfinished.Swap(false) || d.handledUntil.Before(since) {
		return since
	}
	return d.handledUntil
}

// catchUp handles deliveries that were missed or not finished.
func (d *service) catchUp(ctx context.Context) error {
	log, complete, err := d.app.Deliveries(ctx, d.logStart())
	if err != nil {
		return err
	}
	if !complete {
		d.Log.Warn("GitHub's log is too long to be read completely", "read", len(log))
	}
	var all error // an error of one delivery does not stop the others
	for _, delivery := range d.unhandled(log) {
		if !d.ids.add(delivery.GUID) {
			continue
		}
		err := d.handleLogged(ctx, delivery)
		if err == nil {
			continue
		}
		all = errors.Join(all, fmt.Errorf("delivery %s: %w", delivery.GUID, err))
		if !errors.Is(err, github.NotFound) { // a retry cannot help then
			d.ids.forget(delivery.GUID)
		}
		if ctx.Err() != nil || errors.Is(err, github.RateLimited) {
			break
		}
	}
	if all == nil && len(log) > 0 { // also if the log was not complete: a later read gets no older part
		d.handledUntil = log[0].At.Add(-settleTime) // by GitHub's clock
	}
	return all
}

func (d *service) handleLogged(ctx context.Context, delivery github.Delivery) error {
	body, err := d.app.Payload(ctx, delivery.ID)
	if err != nil {
		return err
	}
	o, wanted, err := d.read(delivery.GUID, delivery.Event, body)
	if err != nil {
		d.metrics.count(malformed)
		d.Log.Warn("cannot read a delivery", "delivery", delivery.GUID, "error", err.Error())
	}
	if !wanted || !d.contents.add(o.contentHash()) {
		return nil
	}
	o.mayHaveStarted = true
	o.at = delivery.At
	select {
	case d.queue <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unhandled returns the first attempts of deliveries that may not have been handled, the oldest first. The
// memory of ids has those that this server handled, and an earlier one handled what it had accepted some time ago.
func (d *service) unhandled(log []github.Delivery) []github.Delivery {
	accepted := map[string]bool{}
	var first []github.Delivery
	for _, attempt := range slices.Backward(log) {
		if _, known := accepted[attempt.GUID]; !known {
			first = append(first, attempt)
		}
		accepted[attempt.GUID] = accepted[attempt.GUID] || attempt.Accepted()
	}
	settled := d.began.Add(-settleTime)
	var unhandled []github.Delivery
	for _, delivery := range first {
		if !trigger.CanStartWork(delivery.Event) {
			continue
		}
		if accepted[delivery.GUID] && delivery.At.Before(settled) {
			continue
		}
		unhandled = append(unhandled, delivery)
	}
	return unhandled
}

// order is an accepted delivery that has to start a job.
type order struct {
	id             string
	trigger        trigger.Trigger
	at             time.Time
	mayHaveStarted bool // by an earlier server, or with a lost answer
}

// contentHash identifies the content of a delivery: GitHub signs neither its id nor the name of its event.
func (o order) contentHash() string {
	o.trigger.Event = ""
	text, _ := json.Marshal(o.trigger) // cannot fail
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// work starts jobs until the server is closing and the queue is empty.
func (d *service) work(ctx context.Context) {
	for {
		select {
		case o := <-d.queue:
			d.dispatch(ctx, o)
		case <-d.closing:
			select {
			case o := <-d.queue:
				d.dispatch(ctx, o)
			default:
				return
			}
		}
	}
}

func (d *service) dispatch(ctx context.Context, o order) {
	began := d.Now()
	out, err := d.start(ctx, o)
	d.metrics.seconds.Observe(d.Now().Sub(began).Seconds())
	log := d.Log.With(
		"delivery", o.id,
		"event", o.trigger.Event,
		"repo", o.trigger.Repo.String(),
		"issue", o.trigger.Issue.Number,
		"sender", o.trigger.Sender.Login,
	)
	switch {
	case err == nil:
		log.Info("delivery handled", "outcome", out)
	case ctx.Err() != nil,
		errors.Is(err, github.Unavailable),
		errors.Is(err, github.RateLimited),
		errors.Is(err, github.Unauthorized): // this server's clock or key is wrong; it can be corrected
		out = postponed
		d.forget(o)
		d.unfinished.Store(true) // catchUp reads it again from GitHub's log
		log.Warn("cannot start a job yet", "error", err.Error())
	default:
		out = failed
		log.Error("cannot start a job", "error", err.Error(), "fix", fault.Hint(err))
	}
	d.metrics.count(out)
}

// accessTo returns the access to a repository. It waits for no limit to be lifted: the limit is one account's, and
// others need the worker.
func (d *service) accessTo(owner, repo string) github.Access {
	access := d.Access
	access.Owner, access.Repo = owner, repo
	pace := *cmp.Or(access.Retry, &github.DefaultRetryPolicy)
	pace.MaxWait = 0
	access.Retry = &pace
	return access
}

// workflow is the file that jobs are started from, as ralph init --github writes it.
const workflow = "ralph.yml"

func (d *service) start(ctx context.Context, o order) (outcome, error) {
	client, err := github.Connect(d.accessTo(o.trigger.Repo.Owner, o.trigger.Repo.Name))
	if err != nil {
		return failed, err
	}
	if o.mayHaveStarted {
		started, err := client.HasJobStarted(ctx, workflow, o.id, o.at)
		if started || err != nil {
			return already, err
		}
	}
	text, err := github.Relayed{ID: o.id, Trigger: o.trigger}.Text()
	if err != nil {
		return failed, err
	}
	subject := strconv.Itoa(o.trigger.Issue.Number)
	if o.trigger.IsCI() {
		subject = o.trigger.CI.Branch
	}
	inputs := map[string]any{"id": o.id, "issue": subject, "delivery": text}
	err = client.Dispatch(ctx, workflow, o.trigger.Repo.DefaultBranch, inputs)
	if errors.Is(err, github.NotFound) && fault.Hint(err) == "" {
		err = &fault.Fault{
			What: "the repository has no workflow for ralph",
			Fix:  "add .github/workflows/" + workflow + " to the default branch",
			Err:  err,
		}
	}
	return dispatched, err
}

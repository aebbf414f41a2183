package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

const (
	missed  = 24 * time.Hour   // who asked longer ago has asked again
	settled = 10 * time.Minute // what was taken in before is done: a server is given ten seconds to stop
)

func (d *service) watch(ctx context.Context) {
	tick := time.Tick(d.Limits.Every)
	for {
		if err := d.catchUp(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("missed deliveries are unknown", "error", err.Error())
		}
		select {
		case <-tick:
		case <-ctx.Done():
			return
		}
	}
}

// unseen is the beginning of what may be left to do in GitHub's log. After a look at
// which nothing was left, that is where it ended.
func (d *service) unseen() time.Time {
	since := d.Now().Add(-missed)
	if !d.memory.owesAny(since) && d.seen.After(since) {
		return d.seen
	}
	return since
}

// catchUp handles deliveries that were missed or not finished.
func (d *service) catchUp(ctx context.Context) error {
	log, whole, err := d.hook.Log(ctx, d.unseen())
	if err != nil {
		return err
	}
	if !whole {
		d.Log.Warn("GitHub's log holds more than is read of it", "read", len(log))
	}
	var all error // what one of them lacks is no reason to leave out those behind it
	for _, tried := range overdue(log, d.Now(), d.memory.owes) {
		if !d.memory.take(tried.GUID) {
			continue
		}
		err := d.again(ctx, tried)
		if err == nil {
			continue
		}
		all = errors.Join(all, fmt.Errorf("delivery %s: %w", tried.GUID, err))
		if !errors.Is(err, github.NotFound) { // which it stays
			d.memory.owe(tried.GUID, tried.At)
		}
		if ctx.Err() != nil || errors.Is(err, github.RateLimited) {
			break
		}
	}
	if all == nil && len(log) > 0 { // what is older than the part that was read cannot be read later either
		d.seen = log[0].At.Add(-settled) // by GitHub's clock, as the log is
	}
	return all
}

func (d *service) again(ctx context.Context, tried github.Delivery) error {
	body, err := d.hook.Payload(ctx, tried.ID)
	if err != nil {
		return err
	}
	o, wanted, err := d.read(tried.GUID, tried.Event, body)
	if err != nil {
		d.metrics.count(malformed)
		d.Log.Warn("a delivery cannot be read", "delivery", tried.GUID, "error", err.Error())
	}
	if !wanted || !d.memory.did(tried.GUID, o.deed()) {
		return nil
	}
	// Twice would be two jobs: one may have been started and the answer lost.
	o.doubt, o.at = true, tried.At
	select {
	case d.queue <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// overdue are the first tries of deliveries that may not have been handled, the oldest first.
func overdue(log []github.Delivery, now time.Time, owed func(id string) bool) []github.Delivery {
	taken, first := map[string]bool{}, map[string]github.Delivery{}
	var order []string
	for _, tried := range slices.Backward(log) {
		if _, known := first[tried.GUID]; !known {
			first[tried.GUID] = tried
			order = append(order, tried.GUID)
		}
		taken[tried.GUID] = taken[tried.GUID] || tried.Accepted()
	}
	var due []github.Delivery
	for _, id := range order {
		tried := first[id]
		if trigger.CanStartWork(tried.Event) && (!taken[id] || now.Sub(tried.At) < settled || owed(id)) {
			due = append(due, tried)
		}
	}
	return due
}

// order is an accepted delivery on its way to GitHub Actions.
type order struct {
	id      string
	trigger trigger.Trigger
	at      time.Time // it came
	doubt   bool      // an earlier server may have started it
}

// deed identifies what happened, as the logged body and the event's name are not signed.
func (o order) deed() string {
	o.trigger.Event = ""
	text, _ := json.Marshal(o.trigger) // no field of it can fail
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// work starts jobs until the server is closing and nothing waits.
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
	log := d.Log.With("delivery", o.id, "event", o.trigger.Event, "repo", o.trigger.Repo.String(), "issue", o.trigger.Issue.Number, "sender", o.trigger.Sender.Login)
	switch {
	case err == nil:
		log.Info("seen to", "outcome", out)
	// A clock or a key that is wrong is ours, and no fault of the delivery's:
	// until it is put right the log is not read either.
	case ctx.Err() != nil, errors.Is(err, github.Unavailable), errors.Is(err, github.RateLimited), errors.Is(err, github.Unauthorized):
		out = postponed
		d.memory.owe(o.id, o.at) // GitHub's log has it, and we look there
		log.Warn("a job could not be started yet", "error", err.Error())
	default:
		out = failed
		log.Error("no job was started", "error", err.Error(), "fix", fault.Hint(err))
	}
	d.metrics.count(out)
}

func (d *service) start(ctx context.Context, o order) (outcome, error) {
	access := d.Access
	access.Owner, access.Repo = o.trigger.Repo.Owner, o.trigger.Repo.Name
	client, err := github.Connect(access)
	if err != nil {
		return failed, err
	}
	if o.doubt {
		done, err := client.HasJobStarted(ctx, d.Workflow, o.id, o.at)
		if done || err != nil {
			return already, err
		}
	}
	text, err := github.Relayed{ID: o.id, Trigger: o.trigger}.Text()
	if err != nil {
		return failed, err
	}
	about := strconv.Itoa(o.trigger.Issue.Number)
	if o.trigger.IsCI() {
		about = o.trigger.CI.Branch
	}
	inputs := map[string]any{"id": o.id, "issue": about, "delivery": text}
	err = client.Dispatch(ctx, d.Workflow, o.trigger.Repo.DefaultBranch, inputs)
	if errors.Is(err, github.NotFound) && fault.Hint(err) == "" {
		err = &fault.Fault{What: "there is no workflow", Fix: "put .github/workflows/" + d.Workflow + " on the default branch", Err: err}
	}
	return dispatched, err
}

package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

const (
	missed  = 24 * time.Hour   // who asked longer ago has asked again
	settled = 10 * time.Minute // what was taken in before is done: a server is given ten seconds to stop
)

// watch looks at GitHub's log at once and every few minutes.
func (d *desk) watch(ctx context.Context) {
	tick := time.NewTicker(d.Limits.Every)
	defer tick.Stop()
	for {
		if err := d.catchUp(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("what was missed is not known", "error", err.Error())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// catchUp sees to what nobody took in, and to what was taken in by one that
// did not live to see to it.
func (d *desk) catchUp(ctx context.Context) error {
	log, whole, err := d.hook.Log(ctx, d.Now().Add(-missed))
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
			d.memory.owe(tried.GUID)
		}
		if ctx.Err() != nil || errors.Is(err, github.RateLimited) {
			break
		}
	}
	return all
}

// again takes in what is read from the log.
func (d *desk) again(ctx context.Context, tried github.Logged) error {
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

// overdue are the deliveries of the log, which is newest first, that may not
// have been seen to: the first try of each, the oldest first.
func overdue(log []github.Logged, now time.Time, owed func(id string) bool) []github.Logged {
	taken, first := map[string]bool{}, map[string]github.Logged{}
	var order []string
	for _, tried := range slices.Backward(log) {
		if _, known := first[tried.GUID]; !known {
			first[tried.GUID] = tried
			order = append(order, tried.GUID)
		}
		taken[tried.GUID] = taken[tried.GUID] || tried.Taken()
	}
	var due []github.Logged
	for _, id := range order {
		tried := first[id]
		if trigger.Speaks(tried.Event) && (!taken[id] || now.Sub(tried.At) < settled || owed(id)) {
			due = append(due, tried)
		}
	}
	return due
}

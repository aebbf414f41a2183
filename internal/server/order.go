package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/trigger"
)

// order is a delivery that is for us, on its way to GitHub Actions.
type order struct {
	id      string
	trigger trigger.Trigger
	at      time.Time // it came
	doubt   bool      // whoever was here before us may have started it
}

// deed is what happened, as a digest of all that is done by it. A body in GitHub's
// log need not be the signed one to the byte, and the event's name is not signed.
func (o order) deed() string {
	o.trigger.Event = ""
	text, _ := json.Marshal(o.trigger) // no field of it can fail
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// work starts jobs until the server is closing and nothing waits.
func (d *desk) work(ctx context.Context) {
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

// dispatch has a job started, and says what came of it.
func (d *desk) dispatch(ctx context.Context, o order) {
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
		d.memory.owe(o.id) // GitHub's log has it, and we look there
		log.Warn("a job could not be started yet", "error", err.Error())
	default:
		out = failed
		log.Error("no job was started", "error", err.Error(), "fix", fault.Hint(err))
	}
	d.metrics.count(out)
}

func (d *desk) start(ctx context.Context, o order) (outcome, error) {
	access := d.Access
	access.Owner, access.Repo = o.trigger.Repo.Owner, o.trigger.Repo.Name
	client, err := github.Connect(access)
	if err != nil {
		return failed, err
	}
	if o.doubt {
		done, err := client.Began(ctx, d.Workflow, o.id, o.at)
		if done || err != nil {
			return already, err
		}
	}
	text, err := github.Relayed{ID: o.id, Trigger: o.trigger}.Text()
	if err != nil {
		return failed, err
	}
	inputs := map[string]any{"id": o.id, "issue": strconv.Itoa(o.trigger.Issue.Number), "delivery": text}
	err = client.Dispatch(ctx, d.Workflow, o.trigger.Repo.DefaultBranch, inputs)
	if errors.Is(err, github.NotFound) && fault.Hint(err) == "" {
		err = &fault.Fault{What: "there is no workflow", Fix: "put .github/workflows/" + d.Workflow + " on the default branch", Err: err}
	}
	return dispatched, err
}

package action

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/process"
	"github.com/ralph-loop/ralph/internal/trigger"
	"github.com/ralph-loop/ralph/internal/view"
)

// serve does what was asked.
func (v *visit) serve(ctx context.Context) (Result, error) {
	v.unlabel(ctx)
	switch v.command.Verb {
	case trigger.Help:
		return Result{Skipped: "help was asked for"}, v.help(ctx)
	case trigger.Status:
		return Result{Skipped: "the state was asked for"}, v.status(ctx)
	case trigger.Stop:
		return Result{Skipped: "an end was asked for"}, v.stop(ctx)
	case trigger.Run, trigger.Plan, trigger.Approve, trigger.Resume, trigger.Retry:
	}
	outcome, err := v.run(ctx)
	defer v.leave(ctx, outcome)
	if why, is := errors.AsType[declined](err); is {
		return Result{Skipped: why.said}, v.decline(ctx, why)
	}
	if !errors.Is(err, process.ErrStopped) {
		v.close(ctx, outcome, err)
	}
	return Result{Outcome: outcome}, err
}

// unlabel takes off the label that this was asked for by: it is a button, and can
// be pressed again.
func (v *visit) unlabel(ctx context.Context) {
	if v.trigger.Label == "" || v.inputs.DryRun {
		return
	}
	if err := v.client.RemoveLabel(ctx, v.trigger.Issue.Number, v.trigger.Label); err != nil {
		v.say(fault.Told(err))
	}
}

// decline answers who asked for what cannot be.
func (v *visit) decline(ctx context.Context, why declined) error {
	v.say("not started: " + why.said)
	v.react(ctx, github.Confused)
	return v.answer(ctx, why.said)
}

// stop has the job that is at work cancelled; that one saves its work and says
// how far it came.
func (v *visit) stop(ctx context.Context) error {
	s, found, err := v.standing(ctx)
	if err != nil {
		return v.sorry(ctx, err)
	}
	busy, err := s.busy(ctx, found.lease)
	switch {
	case err != nil:
		return v.sorry(ctx, err)
	case !busy:
		return v.answer(ctx, "Nobody is at work on this.")
	}
	if err := v.client.CancelJob(ctx, found.lease.Job); err != nil {
		return v.sorry(ctx, err)
	}
	v.say("asked for the end of " + found.lease.Page)
	return nil
}

// status tells how the newest run stands, where it was asked for.
func (v *visit) status(ctx context.Context) error {
	s, found, err := v.standing(ctx)
	if err != nil {
		return v.sorry(ctx, err)
	}
	busy, err := s.busy(ctx, found.lease)
	if err != nil {
		return v.sorry(ctx, err)
	}
	return v.answer(ctx, v.told(found, busy))
}

// told is that state in words.
func (v *visit) told(found kept, busy bool) string {
	text := "Nothing has been done here yet. `/ralph` begins."
	switch {
	case found.run.ID != "":
		text = view.Comment(found.run)
	case busy:
		text = "Work has begun, and nothing is done yet."
	}
	if busy {
		text = fmt.Sprintf("[A job](%s) is at work on this. When an iteration last ended:\n\n%s", found.lease.Page, text)
	}
	return text
}

// standing is the shelf with what stands there.
func (v *visit) standing(ctx context.Context) (*shelf, kept, error) {
	s, err := v.openShelf(ctx)
	if err != nil {
		return nil, kept{}, err
	}
	found, err := v.shelved(ctx, s)
	return s, found, err
}

// sorry says why what was asked could not be done, and gives that back.
func (v *visit) sorry(ctx context.Context, err error) error {
	v.react(ctx, github.Confused)
	return errors.Join(err, v.answer(ctx, v.excuse("ralph could not do that", err)))
}

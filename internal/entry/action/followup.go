package action

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/aftercare"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
)

// findPull finds the pull request of ralph's whose checks have ended. Without a skip reason the request is about that
// pull request.
func (h *handler) findPull(ctx context.Context) (skip string, err error) {
	pull, open, err := h.client.OwnPull(ctx, h.request.trigger.CI.Branch)
	switch {
	case err != nil:
		return "", err
	case !open:
		return "no open pull request of ralph's has that branch", nil
	}
	h.setHost(pull.Number)
	h.request.setPull(pull)
	switch {
	case pull.Draft:
		return "the pull request is a draft: its work is under way, or waits for a person", nil
	case pull.HeadSHA != h.request.trigger.CI.SHA:
		return "the checks are of an older head", nil
	}
	red, err := h.client.Red(ctx, h.request.trigger.CI.SHA, pull.BaseRef, h.action.Getenv("GITHUB_WORKFLOW"))
	if err != nil || len(red) == 0 {
		return "nothing is red that is not red on the base", err
	}
	h.request.redChecks = red
	return "", nil
}

// countAttempt records one more attempt at red checks; other runs on the pull request keep
// the count. After the last attempt a person is asked, once per head.
func (h *handler) countAttempt(ctx context.Context, previous previousRun) error {
	r := h.request
	r.task.Attempts = previous.run.Task.Attempts
	if !r.trigger.IsCI() {
		return nil
	}
	if doubt := previous.saved.whyDoubted; doubt != "" {
		return declinedError{"the attempts at red checks cannot be counted: " + doubt}
	}
	next, ok := r.task.Attempts.Next(r.trigger.CI.SHA)
	r.task.Attempts = next
	if ok {
		return nil
	}
	mark := fmt.Sprintf("%sci-asked %s -->", trigger.Marker, next.Head) // of the one question that a head is worth
	err := h.answers.answerOnce(ctx, mark, upkeep.Question(r.redChecks))
	declined := declinedError{"there were enough attempts at the red checks of this pull request"}
	return errors.Join(err, declined) // the run is declined also if the question was not posted
}

// handlePullEvent handles the end of a pull request.
func (h *handler) handlePullEvent(ctx context.Context) error {
	if err := h.connect(); err != nil {
		return err
	}
	account, err := h.accounts.open(ctx)
	if err != nil {
		return err
	}
	why, err := aftercare.Job{
		Trigger: h.request.trigger,
		Payload: h.request.payload,
		Client:  h.client,
		Prefix:  h.inputs.BranchPrefix,
		Remote:  h.remote,
		Store:   account.Store,
		Change:  account.Change,
		Now:     h.action.Now,
		Say:     h.log.say,
		Page:    h.log.writeSummary,
	}.Do(ctx)
	if err != nil {
		return err
	}
	h.log.say(why)
	return nil
}

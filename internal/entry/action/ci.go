package action

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/plan"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/aftercare"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

// lookAfterPull handles a pull request of ralph's whose checks have ended, or whose base was
// pushed to. Without a skip reason the trigger is about that pull request.
func (h *handler) lookAfterPull(ctx context.Context) (skip string, err error) {
	if h.trigger.PushedBranch != "" {
		return h.lookBehindPush(ctx)
	}
	pull, open, err := h.client.OwnPull(ctx, h.trigger.CI.Branch)
	switch {
	case err != nil:
		return "", err
	case !open:
		return "no open pull request of ralph's has that branch", nil
	}
	h.host = h.hostFor(pull.Number)
	lost := false
	if pull.Draft {
		if lost, err = h.resumeKilledJob(ctx, pull); err != nil || !lost {
			return "the pull request is a draft: its work is under way, or waits for a person", err
		}
	}
	h.setPullTrigger(pull)
	switch {
	case h.command.Verb.ContinuesRun():
		return "", nil
	case pull.HeadSHA != h.trigger.CI.SHA && !lost:
		return "the checks are of an older head", nil
	}
	red, base, err := h.client.Red(ctx, h.trigger.CI.SHA, pull.BaseRef, h.Getenv("GITHUB_WORKFLOW"))
	if err != nil || len(red) == 0 {
		return "nothing is red any more", err
	}
	move := upkeep.Decide(red, base)
	h.redChecks = move.Work
	if len(h.redChecks) > 0 {
		return "", nil
	}
	return "no work for an agent: " + move.Line, h.rerunAndNote(ctx, move)
}

// lookBehindPush handles a pull request of ralph's that a push to its base left behind.
func (h *handler) lookBehindPush(ctx context.Context) (skip string, err error) {
	pull, found, err := h.client.Behind(ctx, github.Base{
		Branch: h.trigger.PushedBranch,
		Prefix: h.inputs.BranchPrefix,
		Except: h.updated,
		Drafts: h.resumeKilledJob,
	})
	h.setPullTrigger(pull)
	if err != nil || found {
		return "", err
	}
	return "no open pull request of ralph's must be brought up to date with " + h.trigger.PushedBranch, nil
}

// isForSeveral reports whether the event may be for more pull requests.
func (h *event) isForSeveral() bool {
	return h.trigger.IsAutomatic() && h.trigger.PushedBranch != "" && h.trigger.Issue.Number != 0
}

// resumeKilledJob reports a draft whose job was killed at work on red checks or an update:
// such a job's lease stays. Its run is resumed. Without a saved run the pull request is made
// ready again, unless its head has moved.
func (h *handler) resumeKilledJob(ctx context.Context, pull github.Pull) (bool, error) {
	h.host = h.hostFor(pull.Number)
	h.task = plan.Task{Kind: plan.KindPull, Number: pull.Number, Repo: h.trigger.Repo.String()}
	s, found, err := h.openState(ctx)
	if err != nil {
		return false, err
	}
	lease := found.lease
	if lease.ReadyHead == "" { // no job made a draft of a ready pull request
		return false, nil
	}
	if h.trigger.IsCI() && lease.Attempts.OfPull == 0 {
		return false, nil
	}
	if busy, err := s.isJobAtWork(ctx, lease); busy || err != nil {
		return false, err
	}
	if _, run := h.newest(found); run.ID != "" && run.Stop == nil {
		h.command.Verb = trigger.Resume
		return true, nil
	}
	attempted := h.trigger.IsCI() && lease.Attempts.Head == pull.HeadSHA
	if lease.ReadyHead != pull.HeadSHA && !attempted {
		return false, nil
	}
	return true, h.client.Opener().ReadyPull(ctx, pull)
}

// setPullTrigger makes the trigger one about a pull request, which no person asks for.
func (h *event) setPullTrigger(pull github.Pull) {
	h.trigger.Sender = trigger.Sender{}
	h.trigger.Issue = trigger.Issue{
		Number: pull.Number,
		Title:  pull.Title,
		URL:    pull.URL,
		State:  "open",
		IsPull: true,
	}
}

// rerunAndNote re-runs checks that may be flaky, and says so in the progress comment.
// Of two jobs that ask at once GitHub obeys one.
func (h *handler) rerunAndNote(ctx context.Context, move upkeep.Move) error {
	noted := h.noteInComment(ctx, move.Line) // first: what is run again is not red for the next job
	for _, run := range move.Rerun {
		err := h.client.Rerun(ctx, run)
		if e, ok := errors.AsType[*github.Error](err); ok && strings.Contains(e.Message, "already") {
			continue
		}
		if err != nil {
			why := strings.Join(strings.Fields(h.quoteForeign(fault.Told(err))), " ")
			return h.noteInComment(ctx, move.Line+" That failed, and takes `actions: write`: "+why)
		}
	}
	return noted
}

func (h *handler) noteInComment(ctx context.Context, line string) error {
	comment, _, err := h.client.FindComment(ctx, h.host.issue, marker)
	if err != nil {
		return err
	}
	text := upkeep.Note(comment.Body, line)
	if comment.Body != "" && strings.Contains(comment.Body, text) {
		return nil // the note is there already
	}
	return h.host.replaceComment(ctx, text)
}

// countAttempt records one more attempt at red checks; other runs on the pull request keep
// the count. After the last attempt a person is asked, once per head.
func (h *handler) countAttempt(ctx context.Context, previous previousState) error {
	h.task.Attempts = previous.run.Task.Attempts.Max(previous.found.lease.Attempts)
	if !h.trigger.IsCI() {
		return nil
	}
	if err := h.checkCountable(previous.state != nil && previous.found.whyDoubted == ""); err != nil {
		return err
	}
	next, ok := h.task.Attempts.Next(h.trigger.CI.SHA)
	h.task.Attempts = next
	if ok {
		return nil
	}
	mark := fmt.Sprintf("%sci-asked %s -->", trigger.Marker, next.Head) // of the one question that a head is worth
	err := h.answerOnce(ctx, mark, upkeep.Question(h.redChecks))
	declined := declinedError{"there were enough attempts at the red checks of this pull request"}
	return errors.Join(err, declined) // the run is declined also if the question was not posted
}

// checkCountable declines work on red checks without a saved run, which counts the attempts.
func (h *handler) checkCountable(kept bool) error {
	if kept || !h.trigger.IsCI() {
		return nil
	}
	return declinedError{"the attempts at red checks cannot be counted, as the run cannot be kept on GitHub"}
}

func (h *handler) handlePullEvent(ctx context.Context) error {
	if err := h.connect(); err != nil {
		return err
	}
	h.host = h.hostFor(0)
	account, err := h.openAccount(ctx)
	if err != nil {
		return err
	}
	why, err := aftercare.Job{
		Trigger: h.trigger,
		Payload: h.payload,
		Client:  h.client,
		Prefix:  h.inputs.BranchPrefix,
		Remote:  h.host.remote(),
		Store:   account.Store,
		Change:  account.Change,
		Now:     h.Now,
		Say:     h.say,
		Hide:    h.cleanText,
		Page:    h.writeSummary,
	}.Do(ctx)
	if err != nil {
		return err
	}
	h.say(why)
	return nil
}

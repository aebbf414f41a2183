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
		base := github.Base{Branch: h.trigger.PushedBranch, Prefix: h.inputs.BranchPrefix, Except: h.updated, Drafts: h.resumeKilledJob}
		pull, is, err := h.client.Behind(ctx, base)
		if h.setPullTrigger(pull); err == nil && !is {
			skip = "no open pull request of ralph's must be brought up to date with " + h.trigger.PushedBranch
		}
		return skip, err
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
	if h.redChecks = move.Work; len(h.redChecks) > 0 {
		return "", nil
	}
	return "no work for an agent: " + move.Line, h.rerunAndNote(ctx, move)
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
	if err != nil || found.lease.ReadyHead == "" || h.trigger.IsCI() && found.lease.Attempts.OfPull == 0 {
		return false, err
	}
	if busy, err := s.isJobAtWork(ctx, found.lease); busy || err != nil {
		return false, err
	}
	switch _, run := h.newest(found); {
	case run.ID != "" && run.Stop == nil:
		h.command.Verb = trigger.Resume
	case found.lease.ReadyHead == pull.HeadSHA || h.trigger.IsCI() && found.lease.Attempts.Head == pull.HeadSHA:
		err = h.client.Opener().ReadyPull(ctx, pull)
	default:
		return false, nil
	}
	return true, err
}

// setPullTrigger makes the trigger one about a pull request, which no person asks for.
func (h *event) setPullTrigger(pull github.Pull) {
	h.trigger.Sender, h.trigger.Issue = trigger.Sender{}, trigger.Issue{Number: pull.Number, Title: pull.Title, URL: pull.URL, State: "open", IsPull: true}
}

// rerunAndNote re-runs checks that may be flaky, and says so in the progress comment.
// Of two jobs that ask at once GitHub obeys one.
func (h *handler) rerunAndNote(ctx context.Context, move upkeep.Move) error {
	noted := h.noteInComment(ctx, move.Line) // first: what is run again is not red for the next job
	for _, run := range move.Rerun {
		err := h.client.Rerun(ctx, run)
		if e, is := errors.AsType[*github.Error](err); is && strings.Contains(e.Message, "already") {
			continue
		}
		if err != nil {
			return h.noteInComment(ctx, move.Line+" That failed, and takes `actions: write`: "+strings.Join(strings.Fields(h.quoteForeign(fault.Told(err))), " "))
		}
	}
	return noted
}

func (h *handler) noteInComment(ctx context.Context, line string) error {
	found, _, err := h.client.FindComment(ctx, h.host.issue, marker)
	if err != nil {
		return err
	}
	text := upkeep.Note(found.Body, line)
	if found.Body != "" && strings.Contains(found.Body, text) {
		return nil // it says so
	}
	return h.host.replaceComment(ctx, text)
}

// countAttempt records one more attempt at red checks; other runs on the pull request keep
// the count. After the last attempt a person is asked, once per head.
func (h *handler) countAttempt(ctx context.Context, b previousState) error {
	h.task.Attempts = b.run.Task.Attempts.Max(b.found.lease.Attempts)
	if !h.trigger.IsCI() {
		return nil
	}
	if err := h.checkCountable(b.state != nil && b.found.whyDoubted == ""); err != nil {
		return err
	}
	next, ok := h.task.Attempts.Next(h.trigger.CI.SHA)
	if h.task.Attempts = next; ok {
		return nil
	}
	mark := fmt.Sprintf("%sci-asked %s -->", trigger.Marker, next.Head) // of the one question that a head is worth
	return errors.Join(h.answerOnce(ctx, mark, upkeep.Question(h.redChecks)), declinedError{"there were enough attempts at the red checks of this pull request"})
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
	book, err := h.openAccount(ctx)
	if err != nil {
		return err
	}
	why, err := aftercare.Job{
		Trigger: h.trigger, Payload: h.payload, Client: h.client, Prefix: h.inputs.BranchPrefix,
		Remote: h.host.remote(), Store: book.Store, Change: book.Change, Now: h.Now,
		Say: h.say, Hide: h.cleanText, Page: h.writeSummary,
	}.Do(ctx)
	if err == nil {
		h.say(why)
	}
	return err
}

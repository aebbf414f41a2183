package action

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/hub/upkeep"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/run/job"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// OpenPull opens a draft, or finds the open pull request, which becomes a draft again.
func (h *branchHost) OpenPull(ctx context.Context, run journal.Run, text view.Pull) (journal.PullOpened, error) {
	if run.Published.Pull != nil {
		return h.redraft(ctx, run)
	}
	pull, err := h.client.Opener().OpenPull(ctx, github.NewPull{
		Branch: run.Branch,
		Base:   run.BaseRef,
		Title:  h.hide(text.Title),
		Body:   h.hide(text.Body),
		Draft:  true,
	})
	if err != nil {
		return journal.PullOpened{}, err
	}
	h.addLabelsAndReviewers(ctx, pull.Number)
	if pull.Body == h.hide(text.Body) && h.showing.TryLock() { // it is up to date
		text.Number = pull.Number
		h.last.Pull = text
		h.showing.Unlock()
	}
	return journal.PullOpened{Number: pull.Number, URL: pull.URL, Draft: pull.Draft}, nil
}

func (h *branchHost) redraft(ctx context.Context, run journal.Run) (journal.PullOpened, error) {
	pull, open, err := h.client.FindPull(ctx, run.Branch, run.Published.Pull.Number)
	if err != nil {
		return journal.PullOpened{}, err
	}
	if !open {
		return journal.PullOpened{}, pullClosedError(*run.Published.Pull, run.Branch)
	}
	opened := journal.PullOpened{Number: pull.Number, URL: pull.URL, Draft: true, Again: true}
	return opened, h.client.Opener().DraftPull(ctx, pull)
}

// ReadyPull marks the draft ready if GitHub shows the proven head, which takes seconds after a push.
func (h *branchHost) ReadyPull(ctx context.Context, run journal.Run) error {
	for pause := retryPause; ; pause *= 2 {
		pull, open, err := h.client.FindPull(ctx, run.Branch, run.Published.Pull.Number)
		switch {
		case err != nil:
			return err
		case !open:
			return pullClosedError(*run.Published.Pull, run.Branch)
		case pull.BaseRef != run.BaseRef:
			return fault.Usage(
				fmt.Sprintf("the pull request is for %s now, and all was proven with %s", pull.BaseRef, run.BaseRef),
				"change its base back to "+run.BaseRef+", then comment `/ralph resume`", nil)
		case pull.HeadSHA == run.Head:
			return h.client.Opener().ReadyPull(ctx, pull)
		case pause > 4*retryPause:
			return fault.Usage(
				fmt.Sprintf("%.7s was pushed to %s after %.7s was proven", pull.HeadSHA, run.Branch, run.Head),
				"comment `/ralph resume`: the newer commits are merged and checked", nil)
		}
		if err := job.Wait(ctx, pause); err != nil {
			return err
		}
	}
}

func (h *branchHost) updatePull(ctx context.Context, text view.Pull) error {
	if text.Number == 0 || text == h.last.Pull {
		return nil
	}
	body := h.hide(text.Body)
	if text.Number == h.issue { // the run goes on where others ended
		pull, err := h.client.Pull(ctx, text.Number)
		if err != nil {
			return err
		}
		body = upkeep.Join(pull.Body, body)
	}
	if _, err := h.client.EditPull(ctx, text.Number, "", body); err != nil {
		return err
	}
	h.last.Pull = text
	return nil
}

// addLabelsAndReviewers sets labels and reviewers. A failure is only logged.
func (h *branchHost) addLabelsAndReviewers(ctx context.Context, number int) {
	if len(h.pullLabels) > 0 {
		if _, err := h.client.AddLabels(ctx, number, h.pullLabels...); err != nil {
			h.say(fault.Told(err))
		}
	}
	for _, name := range h.reviewers {
		if err := h.client.AskReviewer(ctx, number, name); err != nil {
			h.say(fault.Told(err))
		}
	}
}

func pullClosedError(opened journal.PullOpened, branch string) error {
	return fault.Usage(fmt.Sprintf("pull request #%d is no longer open", opened.Number),
		"open it again and comment `/ralph resume`; if it was merged, open another one for the rest of "+branch, nil)
}

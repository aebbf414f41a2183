package action

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/view"
)

// stateLabel is the label that says how a run stands.
func stateLabel(state view.State) string { return "ralph:" + string(state) }

// label has the issue say how its run stands, for those who filter by it. Only
// what changes is asked for. Where that is not allowed it is not tried again.
func (h *hub) label(ctx context.Context, state view.State) error {
	if !h.states || h.issue == 0 {
		return nil
	}
	err := h.relabel(ctx, state)
	if errors.Is(err, github.Forbidden) {
		h.states = false
	}
	return err
}

func (h *hub) relabel(ctx context.Context, state view.State) error {
	if wanted := stateLabel(state); state != "" && !slices.Contains(h.labels, wanted) {
		there, err := h.client.AddLabels(ctx, h.issue, wanted)
		if err != nil {
			return err
		}
		h.labels = there // those of a job that was killed among them
	}
	for _, other := range view.States() {
		at := slices.Index(h.labels, stateLabel(other))
		if other == state || at < 0 {
			continue
		}
		if err := h.client.RemoveLabel(ctx, h.issue, h.labels[at]); err != nil {
			return err
		}
		h.labels = slices.Delete(h.labels, at, at+1)
	}
	return nil
}

// dress gives a pull request what the workflow wants it to have. It is not worth
// less without.
func (h *hub) dress(ctx context.Context, number int) {
	if len(h.pullLabels) > 0 {
		if _, err := h.client.AddLabels(ctx, number, h.pullLabels...); err != nil {
			h.say(fault.Told(err))
		}
	}
	if len(h.reviewers) > 0 {
		if err := h.client.AskReviewers(ctx, number, h.reviewers...); err != nil {
			h.say(fault.Told(err))
		}
	}
}

// shut is what to do about a pull request that people have put away.
func (h *hub) shut(ctx context.Context, pull journal.PullOpened, branch string) error {
	merged, err := h.client.Merged(ctx, pull.Number)
	switch {
	case err != nil:
		return err
	case merged:
		return fault.Usage(fmt.Sprintf("pull request #%d was merged meanwhile", pull.Number), "see whether all of "+branch+" is in it, and open another for what is not", nil)
	}
	return fault.Usage(fmt.Sprintf("pull request #%d is not open any more", pull.Number), "open it again and comment `/ralph resume`", nil)
}

package action

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// marker begins the progress comment.
const marker = "<!-- ralph:progress -->"

// Comment finds the progress comment of the issue, or makes it.
func (h *branchHost) Comment(ctx context.Context, board view.Texts) (journal.CommentPosted, error) {
	h.showing.Lock()
	defer h.showing.Unlock()
	err := h.updateComment(ctx, board.Comment)
	return h.posted, err
}

// savedCommitInComment returns the commit that the progress comment names as saved last.
func (h *branchHost) savedCommitInComment(ctx context.Context) (string, error) {
	h.showing.Lock()
	defer h.showing.Unlock()
	comment, found, err := h.client.FindComment(ctx, h.issue, marker)
	if err != nil || !found {
		return "", err
	}
	h.posted = h.postedAs(comment)
	if commit, _ := markedCommit(comment.Body); commit != "" {
		h.savedCommit = commit
	}
	return h.savedCommit, nil
}

// savedCommitInPull returns the commit that the pull request of branch names as saved on ref.
func (h *branchHost) savedCommitInPull(ctx context.Context, branch, ref string) (string, error) {
	pull, open, err := h.client.OwnPull(ctx, branch)
	if err != nil || !open {
		return "", err
	}
	commit, markedRef := markedCommit(pull.Body)
	if markedRef != ref {
		return "", nil
	}
	return commit, nil
}

// markedCommit returns the commit that a text of ralph's names as saved, and in a pull request on which ref.
func markedCommit(text string) (commit, ref string) {
	head, _, _ := strings.Cut(text, "\n") // below, others may have their words in it
	if m := savedCommitMark.FindStringSubmatch(head); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// replaceComment replaces the comment's text, but keeps its mark of the saved commit.
func (h *branchHost) replaceComment(ctx context.Context, text string) error {
	commit, err := h.savedCommitInComment(ctx)
	if err != nil {
		return err
	}
	head := marker
	if commit != "" {
		head += "<!-- ralph:kept " + commit + " -->"
	}
	_, err = h.Comment(ctx, view.Texts{Comment: head + "\n" + text + "\n"})
	return err
}

// Show updates the comment and the pull request. A failure of one does not hold the other back.
func (h *branchHost) Show(ctx context.Context, board view.Texts) error {
	h.showing.Lock()
	defer h.showing.Unlock()
	commentError := h.updateComment(ctx, board.Comment)
	pullError := h.updatePull(ctx, board.Pull)
	labelError := h.label(ctx, board.State)
	return errors.Join(commentError, pullError, labelError)
}

// updateComment updates the progress comment. After a failure it looks for the comment again.
func (h *branchHost) updateComment(ctx context.Context, text string) error {
	if h.issue == 0 {
		return nil
	}
	isShown := h.posted.ID != 0 && text == h.last.Comment
	if isShown {
		return nil
	}
	comment, err := h.writeComment(ctx, h.hide(text))
	if err != nil {
		h.posted = journal.CommentPosted{}
		return err
	}
	h.posted = h.postedAs(comment)
	h.last.Comment = text
	return nil
}

// GitHub starts nothing for what a job's own token does.
const actionsBot = "github-actions[bot]"

// postedAs returns the record of a comment. Its author shows whether our token is a job's own.
func (h *branchHost) postedAs(c github.Comment) journal.CommentPosted {
	return journal.CommentPosted{ID: c.ID, URL: c.URL, Quiet: h.client.Starter == nil && c.Author == actionsBot}
}

func (h *branchHost) writeComment(ctx context.Context, text string) (github.Comment, error) {
	if h.posted.ID != 0 {
		edited, err := h.client.EditComment(ctx, h.issue, h.posted.ID, text)
		if !errors.Is(err, github.NotFound) { // deleted, or the token may not edit it: then it is found again
			return edited, err
		}
	}
	comment, found, err := h.client.FindComment(ctx, h.issue, marker)
	switch {
	case err != nil:
		return github.Comment{}, err
	case found:
		return h.client.EditComment(ctx, h.issue, comment.ID, text)
	}
	return h.client.CreateComment(ctx, h.issue, text)
}

func (h *branchHost) url() string {
	h.showing.Lock()
	defer h.showing.Unlock()
	return h.posted.URL
}

// shows reports whether the progress comment holds a text unchanged since t.
func (h *branchHost) shows(ctx context.Context, text string, t trigger.Trigger) (bool, error) {
	h.showing.Lock()
	defer h.showing.Unlock()
	comment, found, err := h.client.FindComment(ctx, h.issue, marker)
	if err != nil || !found || !comment.ReadBefore(t) {
		return false, err
	}
	body := strings.ReplaceAll(comment.Body, "\r\n", "\n") // as a browser sends what a person edited
	return strings.Contains(body, "\n\n"+h.hide(text)+"\n\n"), nil
}

// label only writes changes, and gives up where labels are not allowed.
func (h *branchHost) label(ctx context.Context, state view.State) error {
	if !h.stateLabels || h.issue == 0 {
		return nil
	}
	err := h.relabel(ctx, state)
	if errors.Is(err, github.Forbidden) {
		h.stateLabels = false
	}
	return err
}

func (h *branchHost) relabel(ctx context.Context, state view.State) error {
	if wanted := state.Label(); state != "" && !slices.Contains(h.labels, wanted) {
		labels, err := h.client.AddLabels(ctx, h.issue, wanted)
		if err != nil {
			return err
		}
		h.labels = labels // those of a job that was killed among them
	}
	for _, other := range view.States() {
		at := slices.Index(h.labels, other.Label())
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

package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/show/view"
)

const marker = "<!-- ralph:progress -->"

type branchHost struct {
	client *github.Client
	issue  int
	clone  string
	hide   func(string) string
	say    func(string)

	baseBranch            string   // the branch that nothing is pushed to
	pullLabels, reviewers []string // that a pull request gets when it is opened
	stateLabels           bool     // the issue is labelled by how its run stands

	showing     sync.Mutex
	posted      journal.CommentPosted // the progress comment, while it is sure where that is
	last        view.Texts            // what was shown last
	labels      []string              // that the issue is known to have
	savedCommit string                // the commit that the comment names as saved last
}

// remote asks for a fresh token: an App's token lasts an hour, a run may last longer.
func (h *branchHost) remote() remote.Repository {
	return remote.Repository{URL: h.clone, Fresh: h.client.GitToken, Pause: retryPause}
}

// Push moves a branch, but not the default branch.
func (h *branchHost) Push(ctx context.Context, from *git.Trusted, u remote.Update) error {
	if u.Branch == h.baseBranch {
		return fmt.Errorf("%s is the default branch: work goes there by a pull request only", u.Branch)
	}
	if err := h.draftBefore(ctx, from, u); err != nil {
		return err
	}
	origin := remote.Repository{URL: h.clone, Fresh: h.client.Opener().GitToken}
	return origin.Push(ctx, from, u)
}

// draftBefore turns our own ready pull requests of a branch into drafts before a run pushes there: what people ask
// for now is not proven yet, also of the commit that is there. The run may not know of one: an earlier run opened
// it, or a person made it ready since.
func (h *branchHost) draftBefore(ctx context.Context, from *git.Trusted, u remote.Update) error {
	_, err := from.Resolve(ctx, git.BranchRef(u.Branch))
	missing := errors.Is(err, git.ErrNotFound) // or made by this run, and not fetched since
	// Without a branch there is no pull request.
	if missing && u.Was == "" {
		return nil
	}
	if err != nil && !missing {
		return err
	}
	var failed error
	err = h.client.EachOwnPull(ctx, u.Branch, func(pull github.Pull) error {
		failed = h.client.Opener().DraftPull(ctx, pull)
		return failed
	})
	// A token that may not see pull requests opened none. On a branch of this run, work is not held back where GitHub
	// does not answer.
	if failed == nil && (missing || github.Withheld(err)) {
		return nil
	}
	return err
}

// FetchCommit fetches a commit that was there.
func (h *branchHost) FetchCommit(ctx context.Context, to *git.Trusted, sha string) error {
	return h.remote().Fetch(ctx, to, sha)
}

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

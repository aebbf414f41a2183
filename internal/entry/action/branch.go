package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/show/view"
)

// branchHost is a branch on GitHub with what shows it: the progress comment of an issue, the pull request, the labels.
type branchHost struct {
	client *github.Client
	issue  int
	remote remote.Repository
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

// Push moves a branch, but not the default branch.
func (h *branchHost) Push(ctx context.Context, from *git.Trusted, u remote.Update) error {
	if u.Branch == h.baseBranch {
		return fmt.Errorf("%s is the default branch: work goes there by a pull request only", u.Branch)
	}
	if err := h.draftBefore(ctx, from, u); err != nil {
		return err
	}
	origin := remote.Repository{URL: h.remote.URL, Fresh: h.client.Opener().GitToken}
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
	pulls, err := h.client.OwnPulls(ctx, u.Branch)
	// A token that may not see pull requests opened none. On a branch of this run, work is not held back where GitHub
	// does not answer.
	if err != nil && (missing || github.Withheld(err)) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, pull := range pulls {
		if err := h.client.Opener().DraftPull(ctx, pull); err != nil {
			return err
		}
	}
	return nil
}

// FetchCommit fetches a commit that was there.
func (h *branchHost) FetchCommit(ctx context.Context, to *git.Trusted, sha string) error {
	return h.remote.Fetch(ctx, to, sha)
}

// Sign has GitHub make the run's new commits again, which signs them, and fetches the result.
func (h *branchHost) Sign(ctx context.Context, from *git.Trusted, run journal.Run) (journal.Signed, error) {
	signed := journal.Signed{From: run.Head, Tree: run.Tree}
	known := []string{run.Base, run.Start}
	if run.Published.Pushed != "" {
		known = append(known, run.Published.Pushed)
	}
	commits, err := from.NewCommits(ctx, run.Head, known...)
	if err != nil {
		return signed, err
	}
	origin := h.remote
	ref := fmt.Sprintf("refs/ralph/unsigned-%d", h.issue)
	if err := origin.PushRef(ctx, from, ref, run.Head); err != nil {
		return signed, err
	}
	defer h.dropUnsigned(ctx, from, origin, ref)
	signed.As = map[string]string{}
	for _, c := range commits {
		parents := make([]string, 0, len(c.Parents))
		for _, parent := range c.Parents {
			parents = append(parents, cmp.Or(signed.As[parent], parent))
		}
		sha, err := h.client.Commit(ctx, github.NewCommit{Tree: c.Tree, Parents: parents, Message: c.Message})
		if err != nil {
			return signed, err
		}
		signed.As[c.SHA] = sha
	}
	signed.To = signed.As[run.Head]
	if signed.To == "" { // others made it, and it is theirs to sign
		signed.To = run.Head
		return signed, nil
	}
	return signed, origin.Fetch(ctx, from, signed.To)
}

func (h *branchHost) dropUnsigned(ctx context.Context, from *git.Trusted, origin remote.Repository, ref string) {
	if err := origin.DeleteRef(ctx, from, remote.Ref{Name: ref}); err != nil && ctx.Err() == nil {
		h.say("the commits to sign are still on " + ref + ": " + fault.Told(err))
	}
}

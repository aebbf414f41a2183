package action

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
	"github.com/ralph-loop/ralph/internal/git/remote"
	"github.com/ralph-loop/ralph/internal/hub/github"
	"github.com/ralph-loop/ralph/internal/lib/fault"
)

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
	origin := h.remote()
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

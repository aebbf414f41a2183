package action

import (
	"context"
	"fmt"

	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/github"
	"github.com/ralph-loop/ralph/internal/journal"
)

// Sign has GitHub make the commits of the run that it was not given yet, and so
// sign them: their trees and words are what they were. The newest is then here
// as well.
func (h *hub) Sign(ctx context.Context, from *git.Trusted, run journal.Run) (journal.Signed, error) {
	signed := journal.Signed{From: run.Head, Tree: run.Tree}
	known := []string{run.Base, run.Start}
	if run.Pushed != "" {
		known = append(known, run.Pushed)
	}
	commits, err := from.Made(ctx, run.Head, known...)
	if err != nil {
		return signed, err
	}
	remote, err := h.remote(ctx)
	if err != nil {
		return signed, err
	}
	if err := from.Lay(ctx, remote, fmt.Sprintf("refs/ralph/unsigned-%d", h.issue), run.Head); err != nil {
		return signed, err
	}
	became := map[string]string{}
	for _, c := range commits {
		parents := make([]string, len(c.Parents))
		for i, parent := range c.Parents {
			if parents[i] = became[parent]; parents[i] == "" {
				parents[i] = parent
			}
		}
		if became[c.SHA], err = h.client.Commit(ctx, github.NewCommit{Tree: c.Tree, Parents: parents, Message: c.Message}); err != nil {
			return signed, err
		}
	}
	if signed.To = became[run.Head]; signed.To == "" { // others made it, and it is theirs to sign
		signed.To = run.Head
		return signed, nil
	}
	return signed, from.Bring(ctx, remote, signed.To)
}

package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/git/git"
)

// Metered returns what an agent used and how it ended, by what the model server saw.
func Metered(ended journal.AgentEnded, seen egress.Spent, counted bool) journal.AgentEnded {
	return applyMetering(ended, seen, counted)
}

// IsWorkUntaken reports whether the newest iteration may have left work in its tree alone.
var IsWorkUntaken = isWorkUntaken

// Ignore is ignore, for its test.
var Ignore = ignore

// Tidy returns a snapshot without what checks wrote in a span.
func Tidy(ctx context.Context, tree *git.Tree, checks git.Span, now string) (string, error) {
	written, err := newFiles(ctx, tree, checks)
	if err != nil {
		return "", err
	}
	return (&agentSnapshot{checkFiles: written}).tidy(ctx, tree, now)
}

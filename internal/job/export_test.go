package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/egress"
	"github.com/ralph-loop/ralph/internal/git"
	"github.com/ralph-loop/ralph/internal/journal"
	"github.com/ralph-loop/ralph/internal/stream"
)

// Metered is what an agent used and how it ended, by what the model server saw.
func Metered(ended journal.AgentEnded, seen egress.Spent) journal.AgentEnded {
	return metered(ended, seen)
}

// Answered is what would be read of what an agent says.
func Answered(items ...stream.Item) string {
	var said answer
	for _, item := range items {
		said.take(item)
	}
	return said.text()
}

// AtCommit is a file of a commit, and whether that could be asked at all.
func AtCommit(ctx context.Context, trusted *git.Trusted, commit, name string) ([]byte, error) {
	r := reader{ctx: ctx, trusted: trusted, commit: commit}
	return r.file(name), r.err
}

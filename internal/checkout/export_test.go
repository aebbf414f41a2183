package checkout

import (
	"context"

	"github.com/ralph-loop/ralph/internal/git"
)

// AtCommit returns a file of a commit, and whether that could be asked at all.
func AtCommit(ctx context.Context, trusted *git.Trusted, commit, name string) ([]byte, error) {
	r := reader{ctx: ctx, trusted: trusted, commit: commit}
	return r.file(name), r.err
}

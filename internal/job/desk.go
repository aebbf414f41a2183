package job

import (
	"context"

	"github.com/ralph-loop/ralph/internal/git"
)

// Desk is a user's own repository, as the origin of the code and as the place
// where the branch goes. Its files are never touched.
type Desk struct {
	Git   git.Git
	Place git.Place
}

// Fetch makes dir a repository that borrows the user's objects.
func (d Desk) Fetch(ctx context.Context, dir, _, branch string) (*git.Trusted, error) {
	return d.Git.Borrow(ctx, d.Place, dir, branch)
}

// Push brings the user's branch to where the work stands.
func (d Desk) Push(ctx context.Context, from *git.Trusted, branch, sha string) error {
	return from.Deliver(ctx, d.Place, branch, sha)
}

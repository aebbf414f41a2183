package git

import (
	"context"
	"fmt"
)

// Restore moves the tree to a commit and makes every file of it as it is there.
// Files that the commit has not stay.
func (t *Tree) Restore(ctx context.Context, sha string) error {
	if err := CheckSHA(sha); err != nil {
		return err
	}
	quiet, err := t.movable(ctx)
	if err != nil {
		return err
	}
	if err := quiet.run(ctx, "reset", "-q", "--hard", sha); err != nil {
		return fmt.Errorf("put files back to %s: %w", sha, err)
	}
	return nil
}

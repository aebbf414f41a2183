package git

import (
	"context"
	"fmt"
)

// Deliver brings a branch of the user's repository to a commit, reading it from
// the trusted one. It is never forced, and never the branch that is checked
// out: the user's files stay as they are.
func (t *Trusted) Deliver(ctx context.Context, to Place, branch, sha string) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	if err := checkSHA(sha); err != nil {
		return err
	}
	c, address, err := t.git.reach(Remote{URL: t.Dir}, call{dir: to.Top, set: forgiven()})
	if err != nil {
		return err
	}
	c.args = []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", address, sha + ":" + heads(branch)}
	end := t.lay(to)
	_, err = t.git.do(ctx, c)
	if end(err == nil); err != nil {
		return fmt.Errorf("bring %s to %s: %w", branch, to.Top, err)
	}
	return nil
}

package git

import "context"

// Bring fetches a commit that no branch may lead to any more, and keeps it.
// GitHub hands out what it has by its name.
func (t *Trusted) Bring(ctx context.Context, from Remote, sha string) error {
	if err := checkSHA(sha); err != nil {
		return err
	}
	c, address, err := t.git.reach(from, call{set: forgiven()})
	if err != nil {
		return err
	}
	c.args = []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", address, sha}
	if _, err := t.do(ctx, c); err != nil {
		return from.judge("fetch "+sha, err)
	}
	return t.set(ctx, taken, sha)
}

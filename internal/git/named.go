package git

import (
	"context"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Named is the commit that a user calls rev; a fault where there is none.
func (g Git) Named(ctx context.Context, dir, rev string) (string, error) {
	u := user{git: g, dir: dir}
	if err := u.check(ctx); err != nil {
		return "", err
	}
	sha, err := u.Ask(ctx, "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
	_, none := Answered(err)
	switch {
	case none && rev == "HEAD":
		return "", u.unborn()
	case none:
		return "", fault.Usage("there is no commit "+OneLine(rev, 80), "name one that git log shows", nil)
	case err != nil:
		return "", err
	}
	return sha, CheckSHA(sha)
}

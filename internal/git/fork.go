package git

import (
	"context"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Named is the commit that a user calls rev; a fault where there is none.
func (g Git) Named(ctx context.Context, dir, rev string) (string, error) {
	u := user{git: g, dir: dir}
	if err := u.check(ctx); err != nil {
		return "", err
	}
	sha, err := u.ask(ctx, "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
	_, none := answered(err)
	switch {
	case none && rev == "HEAD":
		return "", u.unborn()
	case none:
		return "", fault.Usage("there is no commit "+tidy(rev, 80), "name one that git log shows", nil)
	case err != nil:
		return "", err
	}
	return sha, checkSHA(sha)
}

// Fork is where the work that led to head began: where it left the default
// branch, or else the commit before it.
func (g Git) Fork(ctx context.Context, dir, head string) (string, error) {
	if err := checkSHA(head); err != nil {
		return "", err
	}
	u := user{git: g, dir: dir}
	for _, branch := range u.defaults(ctx) {
		base, err := u.ask(ctx, "merge-base", branch, head)
		if err == nil && base != head {
			return base, checkSHA(base)
		}
	}
	base, err := g.Named(ctx, dir, head+"~")
	if err != nil {
		return "", fault.Usage("there is nothing before "+head[:12], "name the commit to compare with", nil)
	}
	return base, nil
}

// defaults are the branches that may be the default one, the likeliest first.
func (u user) defaults(ctx context.Context) []string {
	names, err := u.ask(ctx, "for-each-ref", "--format=%(refname)", "refs/remotes/*/HEAD", "refs/remotes/*/main", "refs/remotes/*/master", "refs/heads/main", "refs/heads/master", "refs/heads/trunk")
	if err != nil {
		return nil
	}
	found := strings.Fields(names)
	slices.SortStableFunc(found, func(a, b string) int { return likely(b) - likely(a) })
	return found
}

func likely(ref string) int {
	switch {
	case ref == "refs/remotes/origin/HEAD":
		return 3
	case strings.HasSuffix(ref, "/HEAD"):
		return 2
	case strings.HasPrefix(ref, "refs/remotes/"):
		return 1
	default:
		return 0
	}
}

// WorkTree is the tree of the files as they are, in the repository that dir
// lies in, and that repository's top.
func (g Git) WorkTree(ctx context.Context, dir string) (tree, top string, err error) {
	u := user{git: g, dir: dir}
	if err := u.check(ctx); err != nil {
		return "", "", err
	}
	if top, err = u.ask(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return "", "", err
	}
	own, err := g.Own(ctx, Place{Top: top})
	if err != nil {
		return "", "", err
	}
	tree, err = own.Snapshot(ctx)
	return tree, top, err
}

package git

import (
	"cmp"
	"context"
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

// Tag is the commit that a tag of the remote stands for; empty where there is no
// such tag.
func (g Git) Tag(ctx context.Context, from Remote, name string) (string, error) {
	c, address, err := g.reach(from, call{})
	if err != nil {
		return "", err
	}
	ref := "refs/tags/" + name
	c.args = []string{"ls-remote", "--", address, ref, ref + "^{}"}
	out, err := g.do(ctx, c)
	if err != nil {
		return "", from.judge("look up the tag "+name, err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if sha, at, _ := strings.Cut(strings.TrimSpace(line), "\t"); shaForm.MatchString(sha) {
			found[at] = sha
		}
	}
	return cmp.Or(found[ref+"^{}"], found[ref]), nil // an annotated tag has both
}

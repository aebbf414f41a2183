package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Want names the branches that a mirror is for.
type Want struct {
	Base string   // must be there
	Work []string // taken where they are there
}

// Mirror makes dir a repository that holds the wanted branches of a remote and
// nothing else of it. On a dir that is one already it fetches again.
func (g Git) Mirror(ctx context.Context, from Remote, dir string, want Want) (*Trusted, error) {
	for _, branch := range append([]string{want.Base}, want.Work...) {
		if err := CheckBranch(branch); err != nil {
			return nil, err
		}
	}
	t, err := g.create(ctx, dir, "sha1")
	if err != nil {
		return nil, err
	}
	there, err := t.remoteHeads(ctx, from, append([]string{want.Base}, want.Work...))
	if err != nil {
		return nil, err
	}
	if there[want.Base] == "" {
		return nil, fault.Usage(fmt.Sprintf("the repository has no branch %q", want.Base), "name the branch that the work is for", ErrNotFound)
	}
	for _, branch := range want.Work {
		if there[branch] == "" { // it may have been there before
			if err := t.forget(ctx, heads(branch)); err != nil {
				return nil, err
			}
		}
	}
	return t, t.fetch(ctx, from, there)
}

// remoteHeads are the commits on which the remote's branches stand.
func (t *Trusted) remoteHeads(ctx context.Context, at Remote, branches []string) (map[string]string, error) {
	c, address, err := t.git.reach(at, call{})
	if err != nil {
		return nil, err
	}
	c.args = []string{"ls-remote", "--", address}
	for _, branch := range branches {
		c.args = append(c.args, heads(branch))
	}
	out, err := t.do(ctx, c)
	if err != nil {
		return nil, at.judge("look at the branches", err)
	}
	there := map[string]string{}
	for line := range strings.Lines(string(out)) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), "\t")
		branch, isHead := strings.CutPrefix(ref, heads(""))
		if isHead && shaForm.MatchString(sha) { // ls-remote also finds refs that merely end so
			there[branch] = sha
		}
	}
	return there, nil
}

func (t *Trusted) fetch(ctx context.Context, from Remote, branches map[string]string) error {
	c, address, err := t.git.reach(from, call{set: forgiven()})
	if err != nil {
		return err
	}
	c.args = []string{"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--", address}
	for branch := range branches {
		c.args = append(c.args, "+"+heads(branch)+":"+heads(branch))
	}
	if _, err := t.do(ctx, c); err != nil {
		return from.judge("fetch", err)
	}
	return nil
}

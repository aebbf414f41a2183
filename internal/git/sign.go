package git

import (
	"context"
	"fmt"
	"strings"
)

// Made is a commit as another is to make it anew.
type Made struct {
	SHA     string
	Tree    string
	Parents []string
	Message string
}

// Made are the commits of a tip that none of others holds, parents first.
func (t *Trusted) Made(ctx context.Context, tip string, others ...string) ([]Made, error) {
	if err := checkSHA(append([]string{tip}, others...)...); err != nil {
		return nil, err
	}
	args := append([]string{"log", "-z", "--topo-order", "--reverse", "--format=%H %T %P%n%B", tip, "--not"}, others...)
	out, err := t.ask(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("read the commits of %.12s: %w", tip, err)
	}
	var all []Made
	for text := range strings.SplitSeq(out, "\x00") {
		head, message, _ := strings.Cut(text, "\n")
		ids := strings.Fields(head)
		if len(ids) < 2 {
			continue
		}
		all = append(all, Made{SHA: ids[0], Tree: ids[1], Parents: ids[2:], Message: strings.TrimRight(message, "\n") + "\n"})
	}
	return all, nil
}

// Lay brings the objects of a commit to a ref of ours that is no branch, in the
// place of what was there.
func (t *Trusted) Lay(ctx context.Context, to Remote, ref, sha string) error {
	if !depositRef.MatchString(ref) {
		return fmt.Errorf("%q is no ref of ours", tidy(ref, 80))
	}
	if err := checkSHA(sha); err != nil {
		return err
	}
	return t.setRemote(ctx, to, "+"+sha+":"+ref)
}

// Lift takes away what was laid at a ref of ours.
func (t *Trusted) Lift(ctx context.Context, from Remote, ref string) error {
	if !depositRef.MatchString(ref) {
		return fmt.Errorf("%q is no ref of ours", tidy(ref, 80))
	}
	return t.setRemote(ctx, from, ":"+ref)
}

func (t *Trusted) setRemote(ctx context.Context, to Remote, spec string) error {
	c, address, err := t.git.reach(to, call{})
	if err != nil {
		return err
	}
	c.args = []string{"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--", address, spec}
	if out, err := t.do(ctx, c); err != nil {
		return to.refusal(string(out), err)
	}
	return nil
}

package git

import (
	"context"
	"fmt"
	"io"
)

// Bundle writes a branch that stands at sha, without what base holds, as a file
// that git fetches from as from a remote.
func (t *Trusted) Bundle(ctx context.Context, to io.Writer, branch string, span Span) error {
	if err := CheckBranch(branch); err != nil {
		return err
	}
	if err := checkSHA(span.From, span.To); err != nil {
		return err
	}
	if err := t.set(ctx, heads(branch), span.To); err != nil { // a bundle is of refs, and this one has to have the branch's name
		return err
	}
	c := call{args: []string{"bundle", "create", "-q", "-", "^" + span.From, heads(branch)}, stdout: to, limit: 2 << 30}
	if _, err := t.do(ctx, c); err != nil {
		return fmt.Errorf("make a bundle of %s: %w", branch, err)
	}
	return nil
}

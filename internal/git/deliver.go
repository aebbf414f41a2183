package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Deliver brings a branch of the user's repository to a commit, reading it from
// the trusted one. It is never forced, and never the branch that is checked
// out: the user's files stay as they are. Where others went on with it the error
// is ErrNonFastForward.
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
	if _, err = t.git.do(ctx, c); err == nil {
		return nil
	}
	what := fmt.Sprintf("bring %s to %s", branch, to.Top)
	switch failed, is := answered(err); {
	case is && strings.HasPrefix(failed.Said, "fatal: refusing to fetch into "):
		return fault.Usage(what, "switch to another branch there, then: ralph resume", err)
	case no(err) && failed.Said == "": // of what is no fast-forward it is silent when it is to be quiet
		return &RemoteError{Act: what, Kind: ErrNonFastForward}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// CheckedOut is the folder in which a branch of the user's is checked out, be it
// a linked worktree; empty where it is nowhere.
func (g Git) CheckedOut(ctx context.Context, at Place, branch string) (dir string, err error) {
	if branch == at.Branch {
		return at.Top, nil
	}
	if err := CheckBranch(branch); err != nil {
		return "", err
	}
	out, err := user{git: g, dir: at.Top}.ask(ctx, "for-each-ref", "--format=%(refname) %(worktreepath)", "--", heads(branch))
	if err != nil {
		return "", fmt.Errorf("look for the branch %s: %w", branch, err)
	}
	if dir, is := strings.CutPrefix(out, heads(branch)+" "); is { // others may be below that name
		return dir, nil
	}
	return "", nil
}

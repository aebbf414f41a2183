package git

import (
	"context"
	"fmt"
	"strings"
)

// Push is a branch that is to stand at a commit.
type Push struct {
	Branch string
	SHA    string
	Expect string // where the branch must stand before; empty: anywhere behind SHA, or nowhere
}

// Push brings a branch of the remote to a commit. It never forces anything; on
// a branch that already stands there it does nothing. The error is a
// RemoteError.
func (t *Trusted) Push(ctx context.Context, to Remote, p Push) error {
	if err := CheckBranch(p.Branch); err != nil {
		return err
	}
	if err := checkSHA(p.SHA); err != nil {
		return err
	}
	if p.Expect != "" {
		if done, err := t.expected(ctx, to, p); done || err != nil {
			return err
		}
	}
	c, address, err := t.git.reach(to, call{})
	if err != nil {
		return err
	}
	c.args = []string{
		"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--", address, p.SHA + ":" + heads(p.Branch),
	}
	out, err := t.do(ctx, c)
	if err == nil {
		return nil
	}
	return to.refusal(string(out), err)
}

// expected looks whether the branch stands where it should. Between this and
// the push it may move; but git lets nobody move it past a commit that is not
// among our ancestors.
func (t *Trusted) expected(ctx context.Context, to Remote, p Push) (done bool, err error) {
	there, err := t.remoteHeads(ctx, to, []string{p.Branch})
	if err != nil {
		return false, err
	}
	switch at := there[p.Branch]; at {
	case p.SHA:
		return true, nil
	case p.Expect:
		return false, nil
	case "":
		return false, &RemoteError{Act: "push", Kind: ErrNonFastForward, Reason: "the branch is gone"}
	default:
		return false, &RemoteError{Act: "push", Kind: ErrNonFastForward, Reason: fmt.Sprintf("it stands at %.12s, not at %.12s", at, p.Expect)}
	}
}

// refusal reads why a push failed from its table: a flag, the refs and the
// reason, between tabs.
func (r Remote) refusal(table string, err error) error {
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || fields[0] != "!" {
			continue
		}
		why := tidy(r.hide(fields[2]), 500)
		refused, byRemote := strings.CutPrefix(why, "[remote rejected] ")
		switch {
		case !byRemote:
			return &RemoteError{Act: "push", Kind: ErrNonFastForward, Reason: why}
		case overtaken(refused):
			return &RemoteError{Act: "push", Kind: ErrNonFastForward, Reason: refused}
		default:
			return mended(&RemoteError{Act: "push", Kind: ErrRefused, Reason: r.inFull(refused, err)})
		}
	}
	return r.judge("push", err)
}

// overtaken tells of a remote whose branch moved while the push was under way,
// in the words of several of its versions.
func overtaken(why string) bool {
	return strings.Contains(why, "cannot lock ref") || strings.Contains(why, "failed to update ref") || strings.Contains(why, "non-fast-forward")
}

// inFull adds what the remote said in its own lines: GitHub's rules explain
// themselves there. Where one can read more comes last: it is long, and what is
// shown in one line is cut.
func (r Remote) inFull(why string, err error) string {
	failed, ok := answered(err)
	if !ok {
		return why
	}
	all, links := []string{why}, []string(nil)
	for line := range strings.Lines(failed.errors) {
		said, ok := strings.CutPrefix(line, "remote: ")
		said = strings.TrimLeft(strings.TrimPrefix(tidy(r.hide(said), 300), "error: "), "-— ")
		switch {
		case !ok || said == "" || strings.HasPrefix(said, "Resolving deltas") || strings.HasPrefix(said, "Trace: ") || strings.Contains(why, said):
		case strings.Contains(said, "https://"):
			links = append(links, said)
		default:
			all = append(all, said)
		}
	}
	return tidy(strings.Join(append(all, links...), "; "), 2000)
}

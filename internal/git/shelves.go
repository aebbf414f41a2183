package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Shelf is a ref of ours that a remote keeps, as it stands there.
type Shelf struct {
	Ref    string
	Commit string
	At     time.Time // when somebody wrote there last
}

// Shelves fetches what the remote keeps on refs of ours, without what was there
// before. What is no commit, or has a name that we would not give, is left out.
func (t *Trusted) Shelves(ctx context.Context, from Remote) ([]Shelf, error) {
	c, address, err := t.git.reach(from, call{set: forgiven()})
	if err != nil {
		return nil, err
	}
	c.args = []string{"fetch", "-q", "--depth=1", "--no-tags", "--no-write-fetch-head", "--", address, "+refs/ralph/*:refs/ralph/*"}
	if _, err := t.do(ctx, c); err != nil {
		return nil, from.judge("fetch refs/ralph/", err)
	}
	out, err := t.ask(ctx, "for-each-ref", "--format=%(objecttype) %(objectname) %(committerdate:unix) %(refname)", "refs/ralph/")
	if err != nil {
		return nil, fmt.Errorf("read what is kept: %w", err)
	}
	var all []Shelf
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "commit" || !depositRef.MatchString(fields[3]) {
			continue
		}
		at, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			continue
		}
		all = append(all, Shelf{Ref: fields[3], Commit: fields[1], At: time.Unix(at, 0).UTC()})
	}
	return all, nil
}

// Drop removes a shelf from the remote. Where somebody has written there since it
// was looked at the error is ErrNonFastForward, and it stays.
func (t *Trusted) Drop(ctx context.Context, from Remote, s Shelf) error {
	if !depositRef.MatchString(s.Ref) {
		return fmt.Errorf("%q is no ref of ours", tidy(s.Ref, 80))
	}
	if err := checkSHA(s.Commit); err != nil {
		return err
	}
	c, address, err := t.git.reach(from, call{})
	if err != nil {
		return err
	}
	c.args = []string{
		"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--force-with-lease=" + s.Ref + ":" + s.Commit, "--", address, ":" + s.Ref,
	}
	if out, err := t.do(ctx, c); err != nil {
		return from.refusal(string(out), err)
	}
	return nil
}

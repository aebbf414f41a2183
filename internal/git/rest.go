package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// LeaveOut is work of which some files are to be left out.
type LeaveOut struct {
	Span    Span // the work is what To has changed since it left From
	Folder  string
	Message Message
	SignOff bool
}

// Rest is work without some of its files.
type Rest struct {
	SHA  string   // one commit; empty: nothing had to be left out, or there is nothing else
	Left []string // the files that were left out
}

// Rest makes one commit of the work, but for what lies in the folder: that stays
// as it was. One, because a file that a later commit takes back is in the history
// all the same. The same work gives the same commit each time.
func (t *Trusted) Rest(ctx context.Context, l LeaveOut) (Rest, error) {
	span := l.Span
	if err := CheckSHA(span.From, span.To); err != nil {
		return Rest{}, err
	}
	fork, err := t.fork(ctx, span)
	if err != nil {
		return Rest{}, fmt.Errorf("find where %.12s left %.12s: %w", span.To, span.From, err)
	}
	back, err := Compare(ctx, t.Do, Span{From: span.To, To: fork})
	if err != nil {
		return Rest{}, fmt.Errorf("compare %.12s with %.12s: %w", span.To, fork, err)
	}
	var rest Rest
	var entries []TreeEntry
	for _, c := range back {
		if strings.HasPrefix(c.Path, l.Folder+"/") {
			entries, rest.Left = append(entries, TreeEntry{c.Path, c.Mode, c.ID}), append(rest.Left, c.Path)
		}
	}
	if len(entries) == 0 || len(entries) == len(back) {
		return rest, nil
	}
	tree, err := t.overlay(ctx, span.To, entries)
	if err != nil {
		return rest, fmt.Errorf("leave files out of %.12s: %w", span.To, err)
	}
	rest.SHA, err = t.rest(ctx, fork, tree, l)
	return rest, err
}

// overlay is the tree of a commit with some paths as they are wanted.
func (t *Trusted) overlay(ctx context.Context, onto string, entries []TreeEntry) (string, error) {
	dir, err := os.MkdirTemp(t.Dir, "overlay-")
	if err != nil {
		return "", err
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // an index in a folder of ours
	return WriteTree(ctx, t.Do, Index{filepath.Join(dir, "index"), onto}, entries)
}

// rest is the commit, dated as the newest of the work is.
func (t *Trusted) rest(ctx context.Context, parent, tree string, l LeaveOut) (string, error) {
	date, err := t.Ask(ctx, "show", "-s", "--format=%ct", l.Span.To)
	if err != nil {
		return "", fmt.Errorf("date what is left of %.12s: %w", l.Span.To, err)
	}
	at, message := "@"+date+" +0000", l.Message.text()
	if l.SignOff {
		message = SignedOff(message)
	}
	return ObjectID(t.Do(ctx, Call{
		Args:  []string{"commit-tree", "-p", parent, "-F", "-", tree},
		Env:   append(Ralph.env(), "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at),
		Stdin: strings.NewReader(message),
	}))
}

package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Names are the files of To that it has changed or added since it left From.
func (t *Trusted) Names(ctx context.Context, span Span) ([]string, error) {
	changes, err := t.since(ctx, span)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range changes {
		if c.Mode != ModeNone && c.Mode != ModeLink {
			names = append(names, c.Path)
		}
	}
	return names, nil
}

// Touched are the paths that To has changed since it left From, what it has
// taken away too.
func (t *Trusted) Touched(ctx context.Context, span Span) ([]string, error) {
	changes, err := t.since(ctx, span)
	if err != nil {
		return nil, err
	}
	paths := make([]string, 0, len(changes))
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths, nil
}

// since is what To has changed since it left From, which may have gone on.
func (t *Trusted) since(ctx context.Context, span Span) ([]Change, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return nil, err
	}
	if !t.Doubted {
		if fork, err := t.Fork(ctx, span); err == nil {
			span.From = fork
		}
	}
	changes, err := Compare(ctx, t.Do, span)
	if err != nil {
		return nil, fmt.Errorf("compare %.12s with %.12s: %w", span.From, span.To, err)
	}
	return changes, nil
}

// Fork is where two commits parted.
func (t *Trusted) Fork(ctx context.Context, span Span) (string, error) {
	return ObjectID(t.Do(ctx, Call{Args: []string{"merge-base", span.From, span.To}}))
}

// Overlay is what a commit is to become: Onto, with some files as From has them,
// and some with a text of their own.
type Overlay struct {
	Onto, From string
	Paths      []string
	Texts      map[string][]byte
}

// Overlay makes a commit that no branch leads to, for a checkout of its own; Onto
// itself where nothing differs. No file is written: a link in the way leads
// nowhere.
func (t *Trusted) Overlay(ctx context.Context, g Overlay) (string, error) {
	if err := CheckSHA(g.Onto, g.From); err != nil {
		return "", err
	}
	changes, err := Compare(ctx, t.Do, Span{From: g.Onto, To: g.From})
	if err != nil {
		return "", fmt.Errorf("compare %.12s with %.12s: %w", g.Onto, g.From, err)
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return !slices.Contains(g.Paths, c.Path) || c.Mode == ModeLink })
	var entries []TreeEntry
	for _, c := range changes {
		entries = append(entries, TreeEntry{c.Path, c.Mode, c.ID})
	}
	written, err := t.written(ctx, g)
	if err != nil {
		return "", err
	}
	if entries = append(entries, written...); len(entries) == 0 {
		return g.Onto, nil
	}
	sha, err := t.commitEntries(ctx, g.Onto, entries)
	if err != nil {
		return "", fmt.Errorf("put files of %.12s onto %.12s: %w", g.From, g.Onto, err)
	}
	return sha, nil
}

// written are the texts of a graft as objects, each with the mode that its file
// has in Onto.
func (t *Trusted) written(ctx context.Context, g Overlay) ([]TreeEntry, error) {
	var entries []TreeEntry
	for _, name := range slices.Sorted(maps.Keys(g.Texts)) {
		id, err := ObjectID(t.Do(ctx, Call{Args: []string{"hash-object", "-w", "--stdin"}, Stdin: bytes.NewReader(g.Texts[name])}))
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		out, err := t.Do(ctx, Call{Args: []string{"ls-tree", "-z", "--full-tree", g.Onto, "--", name}})
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", name, err)
		}
		mode := ModeFile
		if bytes.HasPrefix(out, []byte(ModeProgram)) {
			mode = ModeProgram
		}
		entries = append(entries, TreeEntry{name, mode, id})
	}
	return entries, nil
}

func (t *Trusted) commitEntries(ctx context.Context, onto string, entries []TreeEntry) (string, error) {
	tree, err := t.treeWith(ctx, onto, entries)
	if err != nil {
		return "", err
	}
	return t.unnamed(ctx, onto, tree)
}

// unnamed is a commit of a tree, the same each time it is made.
func (t *Trusted) unnamed(ctx context.Context, parent, tree string) (string, error) {
	const never = "@0 +0000"
	return ObjectID(t.Do(ctx, Call{
		Args: []string{"commit-tree", "-p", parent, "-m", "ralph: for a checkout", tree},
		Env:  append(Ralph.env(), "GIT_AUTHOR_DATE="+never, "GIT_COMMITTER_DATE="+never),
	}))
}

// LeaveOut is work of which some files are to be left out.
type LeaveOut struct {
	Span    Span // the work is what To has changed since it left From
	Folder  string
	Message Message
	SignOff bool
}

// Remaining is work without some of its files.
type Remaining struct {
	SHA  string   // one commit; empty: nothing had to be left out, or there is nothing else
	Left []string // the files that were left out
}

// LeaveOut makes one commit of the work, but for what lies in the folder: that stays
// as it was. One, because a file that a later commit takes back is in the history
// all the same. The same work gives the same commit each time.
func (t *Trusted) LeaveOut(ctx context.Context, l LeaveOut) (Remaining, error) {
	span := l.Span
	if err := CheckSHA(span.From, span.To); err != nil {
		return Remaining{}, err
	}
	fork, err := t.Fork(ctx, span)
	if err != nil {
		return Remaining{}, fmt.Errorf("find where %.12s left %.12s: %w", span.To, span.From, err)
	}
	back, err := Compare(ctx, t.Do, Span{From: span.To, To: fork})
	if err != nil {
		return Remaining{}, fmt.Errorf("compare %.12s with %.12s: %w", span.To, fork, err)
	}
	var rest Remaining
	var entries []TreeEntry
	for _, c := range back {
		if strings.HasPrefix(c.Path, l.Folder+"/") {
			entries, rest.Left = append(entries, TreeEntry{c.Path, c.Mode, c.ID}), append(rest.Left, c.Path)
		}
	}
	if len(entries) == 0 || len(entries) == len(back) {
		return rest, nil
	}
	tree, err := t.treeWith(ctx, span.To, entries)
	if err != nil {
		return rest, fmt.Errorf("leave files out of %.12s: %w", span.To, err)
	}
	rest.SHA, err = t.commitRest(ctx, fork, tree, l)
	return rest, err
}

// treeWith is the tree of a commit with some paths as they are wanted.
func (t *Trusted) treeWith(ctx context.Context, onto string, entries []TreeEntry) (string, error) {
	dir, err := os.MkdirTemp(t.Dir, "overlay-")
	if err != nil {
		return "", err
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // an index in a folder of ours
	return WriteTree(ctx, t.Do, Index{filepath.Join(dir, "index"), onto}, entries)
}

// commitRest is the commit, dated as the newest of the work is.
func (t *Trusted) commitRest(ctx context.Context, parent, tree string, l LeaveOut) (string, error) {
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

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/untrusted"
)

// ChangedPaths returns the paths that To changed, added or removed since the merge base with From.
func (t *Trusted) ChangedPaths(ctx context.Context, span Span) ([]string, error) {
	if fork, err := t.MergeBase(ctx, span); err == nil {
		span.From = fork
	}
	changes, err := t.Compare(ctx, span)
	return Paths(changes), err
}

// MergeBase returns the merge base of two commits.
func (t *Trusted) MergeBase(ctx context.Context, span Span) (string, error) {
	if err := CheckSHA(span.From, span.To); err != nil {
		return "", err
	}
	return ObjectID(t.askCached(ctx, Call{Args: []string{"merge-base", span.From, span.To}}))
}

// MergeBases returns all merge bases of two commits: criss-cross merges make several.
func (t *Trusted) MergeBases(ctx context.Context, span Span) ([]string, error) {
	found, err := t.askCached(ctx, Call{Args: []string{"merge-base", "--all", span.From, span.To}})
	return strings.Fields(string(found)), err
}

// Overlay describes a commit to make from another one.
type Overlay struct {
	Onto, From string
	Paths      []string          // files to take from From
	Without    []string          // files to remove
	Texts      map[string][]byte // files to write
}

// Overlay makes a commit that is on no branch: Onto with other files. Nothing else differs. It returns Onto if
// nothing differs. It writes objects only, so no symbolic link can mislead it.
func (t *Trusted) Overlay(ctx context.Context, o Overlay) (string, error) {
	changes, err := t.Compare(ctx, Span{From: o.Onto, To: o.From})
	if err != nil {
		return "", err
	}
	var entries []TreeEntry
	wanted := slices.Sorted(slices.Values(o.Paths)) // an agent can change 100,000 files
	for _, c := range changes {
		if _, ok := slices.BinarySearch(wanted, c.Path); ok {
			entries = append(entries, TreeEntry{c.Path, c.Mode, c.ID})
		}
	}
	for _, name := range o.Without {
		entries = append(entries, TreeEntry{name, ModeNone, strings.Repeat("0", len(o.Onto))})
	}
	written, err := t.writeTexts(ctx, o)
	if err != nil {
		return "", err
	}
	entries = append(entries, written...)
	if len(entries) == 0 {
		return o.Onto, nil
	}
	tree, err := t.treeWith(ctx, o.Onto, entries)
	if err != nil {
		return "", fmt.Errorf("put files of %.12s onto %.12s: %w", o.From, o.Onto, err)
	}
	return t.withTree(ctx, o.Onto, tree)
}

// withTree makes a commit with another tree. Its history ends where that of the original does.
func (t *Trusted) withTree(ctx context.Context, commit, tree string) (string, error) {
	text, err := t.Do(ctx, Call{Args: []string{"cat-file", "commit", commit}})
	if err != nil {
		return "", err
	}
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	text = slices.Concat([]byte("tree "+tree+"\n"), rest)
	// Without --literally, git refuses what old commits have, such as an author without an address.
	sha, err := ObjectID(t.Do(ctx, Call{
		Args:  []string{"hash-object", "-t", "commit", "-w", "--literally", "--stdin"},
		Stdin: bytes.NewReader(text),
	}))
	if err != nil {
		return "", err
	}
	name := filepath.Join(t.Dir, "shallow")
	ends, err := untrusted.ReadFile(name, maxOutput)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read where the history ends: %w", err)
	}
	lines := strings.Fields(string(ends))
	if !slices.Contains(lines, commit) || slices.Contains(lines, sha) {
		return sha, nil
	}
	return sha, publish(name, string(ends)+sha+"\n", 0o644)
}

// writeTexts makes objects of the texts, each with its file's mode in Onto.
func (t *Trusted) writeTexts(ctx context.Context, o Overlay) ([]TreeEntry, error) {
	var entries []TreeEntry
	for _, name := range slices.Sorted(maps.Keys(o.Texts)) {
		id, err := ObjectID(t.Do(ctx, Call{
			Args:  []string{"hash-object", "-w", "--stdin"},
			Stdin: bytes.NewReader(o.Texts[name]),
		}))
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		found, err := t.List(ctx, o.Onto, name)
		if err != nil {
			return nil, fmt.Errorf("look for %s: %w", name, err)
		}
		mode := ModeFile
		if len(found) == 1 && found[0].Mode == ModeProgram {
			mode = ModeProgram
		}
		entries = append(entries, TreeEntry{name, mode, id})
	}
	return entries, nil
}

func (t *Trusted) treeWith(ctx context.Context, onto string, entries []TreeEntry) (string, error) {
	dir, err := os.MkdirTemp(t.Dir, "overlay-")
	if err != nil {
		return "", err
	}
	defer untrusted.RemoveAll(dir) //nolint:errcheck // only an index in ralph's own folder
	return WriteTree(ctx, t.Do, Index{filepath.Join(dir, "index"), onto}, entries)
}

// Commit makes a commit of a tree, with the newest date of its parents: the same work gives the same commit.
func (t *Trusted) Commit(ctx context.Context, tree string, m Message, parents ...string) (string, error) {
	dates, err := t.Ask(ctx, append([]string{"show", "-s", "--format=%ct"}, parents...)...)
	if err != nil {
		return "", fmt.Errorf("date a commit: %w", err)
	}
	newest := int64(0)
	for date := range strings.FieldsSeq(dates) {
		seconds, _ := strconv.ParseInt(date, 10, 64) // too large: the largest int64
		newest = max(newest, seconds)
	}
	at := fmt.Sprintf("@%d +0000", newest)
	env := append(Ralph.env(), "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	return commitTree(ctx, t.Do, newCommit{tree: tree, parents: parents, message: m, env: env})
}

type newCommit struct {
	tree    string
	parents []string
	message Message
	env     []string // author, committer and dates
}

func commitTree(ctx context.Context, do Runner, c newCommit) (string, error) {
	args := []string{"commit-tree"}
	for _, parent := range c.parents {
		args = append(args, "-p", parent)
	}
	args = append(args, "-F", "-", c.tree)
	return ObjectID(do(ctx, Call{Args: args, Env: c.env, Stdin: strings.NewReader(c.message.text())}))
}

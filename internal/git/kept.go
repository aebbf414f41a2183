package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Kept are the tracked files of the user's own tree that are not as in its commit, although git calls the tree clean,
// with the objects of their contents: changes that the index hides, files that a filter decrypted, missing files of a
// sparse checkout. They are the user's: no commit of ralph has them, even if an agent changes the index or .gitattributes.
type Kept map[string]string // path to object; empty: it is missing

// FindKept reads all tracked files, into a new index that hides nothing, and without filters.
func (t *Tree) FindKept(ctx context.Context) (Kept, error) {
	s, done := t.scratch()
	defer done()
	if _, err := s.Do(ctx, s.indexCall("read-tree", "HEAD")); err != nil {
		return nil, err
	}
	list := s.indexCall("ls-files", "-z")
	list.Limit = maxList
	paths, err := s.Do(ctx, list)
	if err != nil {
		return nil, err
	}
	read := s.indexCall("update-index", "--info-only", "--remove", "-z", "--stdin")
	read.Stdin = bytes.NewReader(paths)
	if _, err := s.Do(ctx, read); err != nil {
		return nil, err
	}
	changes, err := s.changes(ctx)
	kept := Kept{}
	for _, c := range changes {
		if kept[c.Path] = c.ID; c.Mode == ModeNone {
			kept[c.Path] = ""
		}
	}
	return kept, err
}

// emptyFiles are the objects of an empty file by SHA-1 and SHA-256.
var emptyFiles = []string{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"}

// has reports whether a change is the user's, and whether somebody has changed or copied it since.
func (k Kept) has(c Change) (theirs, changed bool) {
	was, is := k[c.Path]
	switch {
	case is && was == "":
		return c.Mode == ModeNone, false
	case is:
		return c.Mode != ModeNone, c.Mode != ModeNone && c.ID != was
	case c.Mode == ModeNone || slices.Contains(emptyFiles, c.ID):
		return false, false
	}
	for _, id := range k {
		if id == c.ID {
			return true, true
		}
	}
	return false, false
}

// LeaveOut returns the changes that a commit may not have, and the paths of those that the user should know of. Besides
// what is kept these are files that a filter has to write, as ralph's git runs none: those that the project encrypts
// (git-crypt, git-agecrypt, crypt of transcrypt), and existing files of Git LFS.
func (t *Tree) LeaveOut(ctx context.Context, changes []Change) (out []Change, told []string, err error) {
	filters, err := t.filters(ctx, changes)
	if err != nil {
		return nil, nil, err
	}
	isFile := func(mode string) bool { return mode != ModeNone && mode != ModeLink && mode != ModeSymlink }
	for i, c := range changes {
		kept, tell := t.Kept.has(c)
		if filter := filters[i]; !kept && isFile(c.Mode) {
			kept = strings.Contains(filter, "crypt") || filter == "lfs" && isFile(c.OldMode)
			tell = kept
		}
		if kept {
			out = append(out, c)
		}
		if tell {
			told = append(told, c.Path)
		}
	}
	return out, told, nil
}

// filters returns the name of each file's filter.
func (t *Tree) filters(ctx context.Context, changes []Change) ([]string, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	var paths strings.Builder
	for _, c := range changes {
		paths.WriteString(c.Path + "\x00")
	}
	out, err := t.Do(ctx, Call{Args: []string{"check-attr", "-z", "--stdin", "filter"}, Stdin: strings.NewReader(paths.String()), Limit: maxList})
	if err != nil {
		return nil, fmt.Errorf("look for files with filters: %w", err)
	}
	said, all := strings.Split(string(out), "\x00"), make([]string, len(changes)) // path, attribute and value of each
	for i := range all {
		all[i] = said[min(3*i+2, len(said)-1)]
	}
	return all, nil
}

// leaveOutAt undoes such changes at some paths from a tree to a later one.
func (t *Tree) leaveOutAt(ctx context.Context, from, to string, at []string) (tree string, told []string, err error) {
	if from == to || len(at) == 0 {
		return to, nil, nil
	}
	changes, err := Compare(ctx, t.Do, Span{From: from, To: to}, literal(at)...)
	if err != nil {
		return "", nil, err
	}
	out, told, err := t.LeaveOut(ctx, changes)
	if err != nil {
		return "", nil, err
	}
	tree, err = t.Without(ctx, to, out)
	return tree, told, err
}

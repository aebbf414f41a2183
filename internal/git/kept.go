package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/journal"
)

// FindKept returns the tracked files that are not as in their commit, although git calls the tree clean: those that the
// index hides, and those that a filter wrote, such as decrypted ones. They are the user's: no commit of ralph has them,
// even if an agent changes the index or .gitattributes.
func (t *Tree) FindKept(ctx context.Context) (kept []journal.KeptFile, err error) {
	suspects, filtered, err := t.suspects(ctx)
	if err != nil || len(suspects) == 0 {
		return nil, err
	}
	s, done := t.scratch() // its index hides nothing
	defer done()
	if _, err := s.Do(ctx, s.indexCall("read-tree", "HEAD")); err != nil {
		return nil, err
	}
	if err := s.update(ctx, suspects, "--info-only", "--remove"); err != nil {
		return nil, err
	}
	changes, err := s.changes(ctx)
	for _, c := range changes {
		switch {
		case c.Mode == ModeNone:
			kept = append(kept, journal.KeptFile{Path: []byte(c.Path)})
		case c.ID != c.OldID:
			kept = append(kept, journal.KeptFile{Path: []byte(c.Path), ID: c.ID, Filtered: filtered[c.Path] && isFile(c.Mode)})
		}
	}
	return kept, err
}

// suspects returns the tracked files that the index hides or a filter writes, but not the large ones of Git LFS, which
// LeaveOut knows. In a sparse checkout many are missing: git keeps these out of commits itself.
func (t *Tree) suspects(ctx context.Context) (paths []string, filtered map[string]bool, err error) {
	out, err := t.Do(ctx, Call{Args: []string{"ls-files", "-v", "-z"}, Limit: maxList})
	if err != nil {
		return nil, nil, err
	}
	all, filtered, hidden := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), map[string]bool{}, []bool(nil)
	for i, line := range all {
		tag, name, _ := strings.Cut(line, " ")
		all[i], hidden = name, append(hidden, tag == "S" && t.settings["core.sparsecheckout"] != "true" || tag != strings.ToUpper(tag))
	}
	filters, err := filtersOf(ctx, t.Do, all)
	for i, filter := range filters {
		if filtered[all[i]] = filter != "lfs" && isFilter(filter); filtered[all[i]] || hidden[i] {
			paths = append(paths, all[i])
		}
	}
	return paths, filtered, err
}

func isFile(mode string) bool { return mode != ModeNone && mode != ModeLink && mode != ModeSymlink }

// emptyFiles are the objects of an empty file by SHA-1 and SHA-256.
var emptyFiles = []string{"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"}

// LeaveOut returns the changes that a commit may not have, and the paths of those that the user should know of. Besides
// what is kept, and what a filter wrote under another name, these are files that a filter has to write, as ralph's git
// runs none: those that the project encrypts (git-crypt, git-agecrypt, crypt of transcrypt), and existing files of Git LFS.
func (t *Tree) LeaveOut(ctx context.Context, changes []Change) (out []Change, told []string, err error) {
	kept, written := map[string]journal.KeptFile{}, map[string]bool{}
	for _, k := range t.Kept {
		kept[string(k.Path)] = k
		written[k.ID] = written[k.ID] || k.Filtered && !slices.Contains(emptyFiles, k.ID)
	}
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = c.Path
	}
	filters, err := filtersOf(ctx, t.Do, paths)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range changes {
		was, is := kept[c.Path]
		now := c.ID
		if c.Mode == ModeNone {
			now = ""
		}
		encrypts, lfs := strings.Contains(filters[i], "crypt"), filters[i] == "lfs" && isFile(c.OldMode)
		switch {
		case is && now == was.ID:
			out = append(out, c)
		case is && now != "" && was.ID != "", written[now], isFile(c.Mode) && (encrypts || lfs):
			out, told = append(out, c), append(told, c.Path)
		}
	}
	return out, told, nil
}

// isFilter reports the name of a filter.
func isFilter(name string) bool { return name != "unspecified" && name != "unset" }

// filtersOf returns the name of each file's filter.
func filtersOf(ctx context.Context, do Runner, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	names := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := do(ctx, Call{Args: []string{"check-attr", "-z", "--stdin", "filter"}, Stdin: names, Limit: maxList})
	if err != nil {
		return nil, fmt.Errorf("look for files with filters: %w", err)
	}
	said, all := strings.Split(string(out), "\x00"), make([]string, len(paths)) // path, attribute and value of each
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
	if err == nil {
		tree, err = t.Without(ctx, to, out)
	}
	return tree, told, err
}

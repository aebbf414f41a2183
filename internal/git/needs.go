package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Needs is what somebody who works in a tree has to reach of its repository,
// beyond its folder, and what in all that is nobody's but its user's: what git
// would run or read more of. What is named need not be there.
type Needs struct{ Write, Read, ReadOnly []string }

// Needs of a tree that somebody works in behind a wall.
func (t *Tree) Needs() Needs {
	at := t.lair()
	n := Needs{Read: append(borrowed(filepath.Join(at.common, "objects")), t.git.Home)}
	if t.own == nil {
		return n
	}
	for _, dir := range []string{at.common, at.dir} {
		if way, err := filepath.Rel(t.Dir, dir); (err != nil || !filepath.IsLocal(way)) && !slices.Contains(n.Write, dir) {
			n.Write = append(n.Write, dir)
		}
		n.ReadOnly = append(n.ReadOnly, within(dir, "config", "config.worktree", "hooks", "info", "commondir", "gitdir")...)
	}
	n.ReadOnly = append(n.ReadOnly, filepath.Join(t.Dir, ".gitmodules"))
	if at.dir != filepath.Join(t.Dir, ".git") {
		n.ReadOnly = append(n.ReadOnly, filepath.Join(t.Dir, ".git")) // the file that leads there
	}
	n.ReadOnly = append(n.ReadOnly, more(at.common)...)
	slices.Sort(n.ReadOnly)
	n.ReadOnly = slices.Compact(n.ReadOnly)
	return n
}

func within(dir string, names ...string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// more are the repositories of submodules and of other worktrees.
func more(common string) []string {
	var paths []string
	for _, folder := range []string{"modules", "worktrees"} {
		_ = filepath.WalkDir(filepath.Join(common, folder), func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil //nolint:nilerr // what cannot be read has nothing to be kept
			case entry.IsDir() && slices.Contains([]string{"objects", "refs", "logs", "hooks", "info", "lfs"}, entry.Name()):
				return fs.SkipDir
			case !entry.IsDir() && entry.Name() == "HEAD":
				paths = append(paths, within(filepath.Dir(path), "config", "config.worktree", "hooks", "info", "commondir", "gitdir")...)
			}
			return nil
		})
	}
	return paths
}

// Lent is what a repository needs to be read that borrows from this one.
func (t *Trusted) Lent() []string { return append([]string{t.Dir}, borrowed(t.objects())...) }

// borrowed are the stores that a store borrows from, at any remove.
func borrowed(objects string) []string {
	var all []string
	for next := []string{objects}; len(next) > 0 && len(all) < 100; {
		store := next[0]
		next = next[1:]
		text, err := os.ReadFile(filepath.Join(store, "info", "alternates"))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			other := strings.TrimSpace(line)
			if !filepath.IsAbs(other) {
				other = filepath.Join(store, other)
			}
			if !slices.Contains(all, other) {
				all, next = append(all, other), append(next, other)
			}
		}
	}
	return all
}

package git

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
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
		n.ReadOnly = append(n.ReadOnly, within(dir, guarded...)...)
	}
	n.ReadOnly = slices.Concat(n.ReadOnly, Guarded(t.Dir), more(at.common))
	slices.Sort(n.ReadOnly)
	n.ReadOnly = slices.Compact(n.ReadOnly)
	return n
}

// guarded are the names in a git folder that git runs, or reads more by. A rebase
// that was left half-way says in its folder what is run when it goes on.
var guarded = []string{"config", "config.worktree", "hooks", "info", "commondir", "gitdir", "rebase-merge"}

// Guarded is what git would run or read more of in a folder. It goes by the folder
// alone: whether git takes .git for a repository, or finds one there at all, those
// inside could change from one command to the next.
func Guarded(dir string) []string {
	at := filepath.Join(dir, ".git")
	paths := append([]string{at, filepath.Join(dir, ".gitmodules")}, strange(dir)...)
	if info, err := os.Lstat(at); err == nil && !info.IsDir() {
		return paths // it leads there
	}
	return slices.Concat(within(at, guarded...), paths[1:], more(at))
}

// others are what Mercurial, Sapling, Jujutsu, Pijul and Darcs go by, in the folder
// that makes a repository of theirs.
var others = []string{
	".hg/hgrc", ".hg/hgrc-not-shared", ".hg/sharedpath", ".hg/config", ".sl/config", ".pijul/config", "_darcs/prefs",
	".jj/repo/config.toml", ".jj/repo/config-id", ".jj/workspace-config.toml", ".jj/workspace-config-id",
}

// strange is the same of other repositories that the folder is, besides or instead.
func strange(dir string) (paths []string) {
	for _, name := range others {
		folder, _, _ := strings.Cut(name, "/")
		if info, err := os.Lstat(filepath.Join(dir, folder)); err == nil && info.IsDir() {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	return paths
}

// Around is the folder that git would look for a repository in from dir: the
// nearest that holds anything named .git; dir itself where there is none.
func Around(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

func within(dir string, names ...string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// traces are files that tell of a repository, any of them: one without a HEAD is
// guarded, too.
var traces = []string{"HEAD", "config", "commondir", "gitdir", "index", "packed-refs"}

// more are the repositories of submodules and of other worktrees.
func more(common string) (paths []string) {
	root, err := untrusted.OpenRoot(common)
	if err != nil {
		return nil
	}
	defer root.Close() //nolint:errcheck // only a handle
	left := mostEntries
	for _, folder := range []string{"modules", "worktrees"} {
		_ = root.WalkAll(folder, func(e untrusted.Entry, err error) error {
			left--
			switch {
			case left < 0:
				return fs.SkipAll
			case err != nil:
				return nil //nolint:nilerr // what cannot be read has nothing to be kept
			case e.Info.IsDir() && slices.Contains([]string{"objects", "refs", "logs", "hooks", "info", "lfs"}, e.Info.Name()):
				return fs.SkipDir
			case !e.Info.IsDir() && slices.Contains(traces, e.Info.Name()):
				paths = append(paths, within(filepath.Join(common, path.Dir(e.Path)), guarded...)...)
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
		text, err := untrusted.ReadFile(filepath.Join(store, "info", "alternates"), 1<<20)
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

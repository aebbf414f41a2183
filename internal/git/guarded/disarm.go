package guarded

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Aside ends the names of what Disarm moved.
const Aside = ".moved-by-ralph"

// Plain reports whether a git folder's configuration runs nothing and writes to the tree alone.
type Plain func(ctx context.Context, folder string, config []byte) bool

// Disarm moves aside what git would run of repositories that were found, and returns
// the new paths: the user's own git asks each that stands in the tree's index.
// A repository as git clone and git init make it stays as it is.
func (s Search) Disarm(ctx context.Context, plain Plain, names []string) (moved []string, err error) {
	root, err := untrusted.OpenRoot(s.Top)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only a handle
	for _, name := range names {
		for _, at := range s.armed(ctx, plain, root, name) {
			failed := moveAside(root, at)
			if failed == nil {
				moved = append(moved, at+Aside)
			}
			err = errors.Join(err, failed)
		}
	}
	return moved, err
}

// moveAside keeps what was moved before: it may be the user's own.
func moveAside(root *untrusted.Root, name string) error {
	_ = root.Chmod(path.Dir(name), 0o700) // those inside may have closed the folder
	earlier := root.Rename(name+Aside, name+"."+rand.Text()[:8]+Aside)
	if errors.Is(earlier, fs.ErrNotExist) {
		earlier = nil
	}
	return errors.Join(earlier, root.Rename(name, name+Aside))
}

// halfDone is what git goes on with, and runs what it lists; or copies files that it lists, by rerere.
var halfDone = []string{"rebase-merge", "rebase-apply", "sequencer", "MERGE_RR"}

func begun(root *untrusted.Root, at string) (paths []string) {
	for _, name := range halfDone {
		if _, err := root.Lstat(path.Join(at, name)); !errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, path.Join(at, name))
		}
	}
	return paths
}

// armed are the paths of the git folder at by which git runs more than itself, or reads more
// than the tree.
func (s Search) armed(ctx context.Context, plain Plain, root *untrusted.Root, at string) (paths []string) {
	info, err := root.Lstat(at)
	_, within := leads(root, at)
	_, closed := root.ReadDir(at)
	switch {
	case errors.Is(err, fs.ErrNotExist), at == s.Git:
		return nil
	case err == nil && !info.IsDir() && within: // what it leads to is a git folder of its own
		return nil
	case err != nil, !info.IsDir():
		return []string{at}
	case closed != nil && path.Base(at) != ".git":
		return []string{path.Join(at, ".git")}
	}
	paths = begun(root, at)
	for _, file := range []string{"config", "config.worktree", "commondir"} {
		file = path.Join(at, file)
		text, err := root.ReadFile(file, 1<<20)
		linked := path.Base(file) == "commondir" && path.Dir(at) == s.Git+"/worktrees" && strings.TrimSpace(string(text)) == "../.."
		if !errors.Is(err, fs.ErrNotExist) && !linked && (err != nil || path.Base(file) == "commondir" || !plain(ctx, filepath.Join(root.Name(), at), text)) {
			paths = append(paths, file)
		}
	}
	for _, store := range []string{"objects", "objects/info/alternates"} {
		if store = path.Join(at, store); borrows(root, at, store) {
			paths = append(paths, store)
		}
	}
	hooks := path.Join(at, "hooks")
	list, err := root.ReadDir(hooks)
	runs := func(hook fs.DirEntry) bool { return !strings.HasSuffix(hook.Name(), ".sample") }
	if err != nil && !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(list, runs) {
		paths = append(paths, hooks)
	}
	return paths
}

// borrows reports objects outside of the tree, which the next sandbox there could read.
func borrows(root *untrusted.Root, at, store string) bool {
	info, err := root.Lstat(store)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil, !info.IsDir() && !info.Mode().IsRegular():
		return true
	case info.IsDir():
		return false
	}
	text, err := root.ReadFile(store, 1<<20)
	top, failed := filepath.EvalSymlinks(root.Name())
	return err != nil || failed != nil || slices.ContainsFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(to string) bool {
		if !filepath.IsAbs(to) {
			to = filepath.Join(top, at, "objects", to)
		}
		to, err := filepath.EvalSymlinks(to)
		way, apart := filepath.Rel(top, to)
		return err != nil || apart != nil || !filepath.IsLocal(way)
	})
}

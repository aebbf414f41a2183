package guarded

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Nested are the repositories within a tree, by path, each with a digest of
// what git would run of it. A git status of the tree runs git in those of its
// index, with their own configuration.
type Nested map[string]string

const mostEntries = 1_000_000

// NotAll stands in Nested for entries that were not looked at.
const NotAll = "(not all entries were looked at)"

// Search is where repositories are looked for.
type Search struct {
	Top string // no link leads out of it
	Git string // its own git folder, by its name in it
	All bool   // all of Top is searched, and not its git folder alone
}

// Searches are for the tree at top, and for git folders elsewhere, as of a linked worktree.
func Searches(top string, write []string) []Search {
	all := []Search{{Top: top, Git: ".git", All: true}}
	for _, dir := range write {
		if !slices.ContainsFunc(all, func(s Search) bool { return s.holds(dir) }) {
			all = append(all, Search{Top: filepath.Dir(dir), Git: filepath.Base(dir)})
		}
	}
	return all
}

func (s Search) start() string {
	if s.All {
		return "."
	}
	return s.Git
}

// Name is the folder that is searched.
func (s Search) Name() string { return filepath.Join(s.Top, s.start()) }

func (s Search) holds(dir string) bool {
	way, err := filepath.Rel(s.Name(), dir)
	return err == nil && filepath.IsLocal(way)
}

// Look finds repositories by their folders, within git folders too. It runs no git and
// follows no link. A folder that cannot be read counts as a repository. If the context
// ends first, NotAll stands for the rest.
func (s Search) Look(ctx context.Context) Found {
	found, left := Found{Nested{}, Nested{}, Nested{}}, mostEntries
	root, err := untrusted.OpenRoot(s.Top)
	if err != nil {
		return Found{Nested: Nested{".": "closed"}}
	}
	defer root.Close() //nolint:errcheck // only a handle
	err = root.Walk(ctx, s.start(), func(e untrusted.Entry, err error) error {
		if left--; left < 0 {
			found.Nested[NotAll] = ""
			return fs.SkipAll
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // it went while we looked
		case err != nil:
			found.Nested[e.Path] = "closed"
		case s.isPipe(e):
			found.Pipes[e.Path] = ""
		case e.Path == s.Git: // the folder's own
		case e.Info.Name() == ".git":
			found.Nested[path.Dir(e.Path)] = runs(ctx, e.In, e.Name, &left)
			if to, led := leads(root, e.Path); led {
				found.Nested[path.Dir(e.Path)] += runs(ctx, root, to, &left)
			}
		case e.Info.Name() == "HEAD" && path.Dir(e.Path) != s.Git && path.Base(path.Dir(e.Path)) != ".git" && isBare(e.In):
			found.Nested[path.Dir(e.Path)] = runs(ctx, e.In, ".", &left)
		case isIndex(e):
			found.Indexes[path.Join(path.Dir(e.Path), index)] += stamp(e)
		}
		return nil
	})
	if err != nil {
		found.Nested[NotAll] = ""
	}
	return found
}

// isBare tells whether git may take a folder with a HEAD for a repository as it is:
// its objects and refs may be links, or lie where commondir says. The logs of a
// repository have a HEAD and refs alone.
func isBare(dir *untrusted.Root) bool {
	has := func(name string) bool {
		_, err := dir.Lstat(name)
		return !errors.Is(err, fs.ErrNotExist)
	}
	return has("commondir") || has("objects") && has("refs")
}

func runs(ctx context.Context, in *untrusted.Root, at string, left *int) string {
	sum := sha256.New()
	for _, name := range append(unwritten(in, at), at) {
		_ = in.Walk(ctx, name, func(e untrusted.Entry, err error) error {
			*left--
			switch {
			case *left < 0:
				return fs.SkipAll
			case errors.Is(err, fs.ErrNotExist): // says nothing
			case err != nil:
				fmt.Fprintf(sum, "%s closed\n", e.Path)
			case e.Path == at && e.Info.IsDir():
				return fs.SkipDir
			default:
				fmt.Fprintf(sum, "%s %s %q\n", e.Path, e.Info.Mode().Type(), content(e))
			}
			return nil
		})
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// unwritten are files that git does not write itself, and would run or read more by.
func unwritten(in *untrusted.Root, at string) []string {
	names := []string{path.Join(at, "info"), path.Join(at, "objects/info/alternates")}
	entries, _ := in.ReadDir(at) // what cannot be read is told of by its name
	for _, entry := range entries {
		if !slices.ContainsFunc(written, func(pattern string) bool { fits, _ := path.Match(pattern, entry.Name()); return fits }) {
			names = append(names, path.Join(at, entry.Name()))
		}
	}
	return names
}

func content(e untrusted.Entry) string {
	if e.Info.Mode().Type() == fs.ModeSymlink {
		to, _ := e.In.Readlink(e.Name)
		return to
	}
	return stamp(e)
}

// Since are new or changed repositories. What could not be read counts as changed.
func (n Nested) Since(before Nested) []string {
	var names []string
	for name, now := range n {
		if was, stood := before[name]; !stood || was != now || name == NotAll || strings.Contains(now, unread) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func leads(root *untrusted.Root, at string) (to string, within bool) {
	text, err := root.ReadFile(at, 1<<12)
	to, is := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !is {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(root.Name(), path.Dir(at), to)
	}
	to, err = filepath.Rel(root.Name(), to)
	return to, err == nil && filepath.IsLocal(to)
}

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

func moveAside(root *untrusted.Root, name string) error {
	_ = root.Chmod(path.Dir(name), 0o700) // those inside may have closed the folder
	return errors.Join(root.RemoveAll(name+Aside), root.Rename(name, name+Aside))
}

// mergePaths lists files, of any folder, of which git's rerere keeps a copy in the repository.
const mergePaths = "MERGE_RR"

// armed are the paths of a repository by which git runs more than itself, or reads more
// than the tree.
func (s Search) armed(ctx context.Context, plain Plain, root *untrusted.Root, name string) (paths []string) {
	at := path.Join(name, ".git")
	info, err := root.Lstat(at)
	switch to, within := leads(root, at); {
	case errors.Is(err, fs.ErrNotExist):
		at = name // it is bare
	case err != nil, !info.IsDir() && !within:
		return []string{at}
	case !info.IsDir():
		at = to
	}
	if _, err := root.Lstat(path.Join(at, mergePaths)); !errors.Is(err, fs.ErrNotExist) {
		paths = append(paths, path.Join(at, mergePaths))
	}
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

package guarded

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// Nested are the git folders within a tree, by path, each with a digest of
// what git would run of it. A git status of the tree runs git in those of its
// index, with their own configuration.
type Nested map[string]string

const mostEntries = 1_000_000

// budget is what is left of the entries and bytes to look at: agents can leave any number.
type budget struct {
	entries int
	bytes   int64
}

// perInclude is what a configuration that includes files costs in entries: git is asked for them.
const perInclude = 1000

// NotAll stands in Nested for entries that were not looked at.
const NotAll = "(not all entries were looked at)"

// Search is where repositories are looked for.
type Search struct {
	Top      string                       // no link leads out of it
	Git      string                       // its own git folder, by its name in it
	All      bool                         // all of Top is searched, and not its git folder alone
	Includes func([]byte) ([]byte, error) // lists the includes of a configuration, as Included wants it
}

// Searches are for the tree at top, and for git folders elsewhere, as of a linked worktree.
func Searches(top string, write []string, includes func([]byte) ([]byte, error)) []Search {
	all := []Search{{Top: top, Git: ".git", All: true, Includes: includes}}
	for _, dir := range write {
		if !slices.ContainsFunc(all, func(s Search) bool { return s.holds(dir) }) {
			all = append(all, Search{Top: filepath.Dir(dir), Git: filepath.Base(dir), Includes: includes})
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

// Look finds repositories by their folders, within git folders too. It follows no link. A folder that cannot be read counts as a repository. If the context
// ends first, NotAll stands for the rest.
func (s Search) Look(ctx context.Context) Found {
	found, left := Found{Nested{}, Nested{}, Nested{}}, &budget{mostEntries, 256 << 20}
	root, err := untrusted.OpenRoot(s.Top)
	if err != nil {
		return Found{Nested: Nested{".": "closed"}}
	}
	defer root.Close() //nolint:errcheck // only a handle
	err = root.Walk(ctx, s.start(), func(e untrusted.Entry, err error) error {
		if left.entries--; left.entries < 0 {
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
			found.Nested[e.Path] = s.runs(ctx, e.In, e.Name, filepath.Join(s.Top, e.Path), left)
			if to, led := leads(root, e.Path); led {
				found.Nested[e.Path] += s.runs(ctx, root, to, filepath.Join(s.Top, to), left)
			}
		case e.Info.Name() == "HEAD" && path.Dir(e.Path) != s.Git && path.Base(path.Dir(e.Path)) != ".git" && isBare(e.In):
			found.Nested[path.Dir(e.Path)] = s.runs(ctx, e.In, ".", filepath.Join(s.Top, path.Dir(e.Path)), left)
		case isIndex(e):
			found.Indexes[path.Join(path.Dir(e.Path), index)] += left.version(e)
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

// runs is a digest of what git would run or read more by in the git folder at, which is place. It
// says so if not all is known.
func (s Search) runs(ctx context.Context, in *untrusted.Root, at, place string, left *budget) string {
	sum, known := sha256.New(), ""
	add := func(path, content string) {
		if fmt.Fprintf(sum, "%s %s\n", path, content); strings.HasPrefix(content, unread) {
			known = unread
		}
	}
	for _, name := range append(unwritten(in, at), at) {
		_ = in.Walk(ctx, name, func(e untrusted.Entry, err error) error {
			left.entries--
			switch {
			case left.entries < 0:
				return fs.SkipAll
			case errors.Is(err, fs.ErrNotExist): // says nothing
			case err != nil:
				add(e.Path, "closed")
			case e.Path == at && e.Info.IsDir():
				return fs.SkipDir
			case e.Info.Mode().Type() == fs.ModeSymlink:
				to, _ := e.In.Readlink(e.Name)
				add(e.Path, "to "+to)
			case !e.Info.Mode().IsRegular():
				add(e.Path, e.Info.Mode().Type().String())
			default:
				add(e.Path, left.version(e))
			}
			return nil
		})
	}
	for _, file := range s.included(in, at, place, left) {
		add(file, left.elsewhere(file))
	}
	return fmt.Sprintf("%x", sum.Sum(nil)) + known
}

// mostNested is how much is read of a nested configuration. A larger one that changed is moved aside.
const mostNested = 1 << 20

// included are the files that a nested configuration includes. Needs guards those of the tree's own git folder.
func (s Search) included(in *untrusted.Root, at, place string, left *budget) []string {
	if s.Includes == nil || strings.HasPrefix(place, filepath.Join(s.Top, s.Git)+"/") {
		return nil
	}
	var configs []string
	for _, name := range []string{"config", "config.worktree"} {
		if text, err := in.ReadFile(path.Join(at, name), mostNested); err == nil && includes(text) {
			configs = append(configs, filepath.Join(place, name))
		}
	}
	return Included(nil, configs, mostNested, func(config []byte) ([]byte, error) {
		if left.entries -= perInclude; left.entries < 0 {
			return nil, errors.New("there is too much to be looked at")
		}
		return s.Includes(config)
	})
}

// elsewhere is the version of an included file.
func (b *budget) elsewhere(file string) string {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing"
	case err != nil:
		return unread
	case info.Mode().Type() == fs.ModeSymlink:
		to, _ := os.Readlink(file)
		return "to " + to
	}
	folder, err := untrusted.OpenRoot(filepath.Dir(file))
	if err != nil {
		return unread
	}
	defer folder.Close() //nolint:errcheck // only a handle
	return b.version(untrusted.Entry{Info: info, In: folder, Name: filepath.Base(file)})
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

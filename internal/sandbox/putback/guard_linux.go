package putback

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// guard is a Guard as its folder was before a program ran. What stood there and may
// not change is kept beside it, as ReadOnly.
type guard struct {
	kept // of the folder; held are the files in it that may change, to be there again where a link is

	but   []string
	other bool     // it is something else than a folder, which ReadOnly keeps
	known []string // the names in it
	odd   map[string]string
}

func (f Files) guard(one Guard) (g guard, err error) {
	k, err := f.beneath(one.Dir)
	if err != nil {
		return guard{}, err
	}
	info, missing := k.root.Lstat(k.name)
	g = guard{kept: k, but: one.But, other: missing == nil && !info.IsDir()}
	if g.known, err = g.names(); err == nil {
		g.odd, err = g.oddities()
	}
	if err == nil {
		g.held, err = g.files()
	}
	if err != nil {
		return guard{}, errors.Join(err, k.root.Close())
	}
	return g, nil
}

// beneath is a path by the folder of Write that it lies in, with nothing held yet.
func (f Files) beneath(path string) (kept, error) {
	for _, dir := range f.Write {
		if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
			return rooted(dir, name)
		}
	}
	return kept{}, errors.New("it lies in no folder that can be written to")
}

func rooted(dir, name string) (kept, error) {
	root, err := untrusted.OpenRoot(dir)
	return kept{root: root, dir: dir, name: filepath.ToSlash(name)}, err
}

// free tells whether those inside may change what is named so.
func (g guard) free(name string) bool {
	return slices.ContainsFunc(g.but, func(pattern string) bool {
		fits, _ := path.Match(pattern, name) // the patterns are well formed
		return fits
	})
}

// closed are those of the folder that stand there and may not change.
func (g guard) closed(dir string) (all []string) {
	for _, name := range g.known {
		if !g.free(name) {
			all = append(all, filepath.Join(dir, name))
		}
	}
	return all
}

// files are those directly in the folder that may change. Without its HEAD a folder is
// no repository any more, and the user's work is not found.
func (g guard) files() (map[string]node, error) {
	all := map[string]node{}
	for _, name := range g.known {
		one := g.kept
		one.name = path.Join(g.name, name)
		if info, err := g.root.Lstat(one.name); err != nil || !info.Mode().IsRegular() || !g.free(name) {
			continue
		}
		found, err := one.look()
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

// names are those in the folder; none where it is no folder.
func (g guard) names() (names []string, err error) {
	if info, err := g.root.Lstat(g.name); err != nil || !info.IsDir() {
		return nil, nil //nolint:nilerr // there is none
	}
	entries, err := g.root.ReadDir(g.name)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names, err
}

// mostOdd bounds how much of a folder is looked at for what is no file.
const mostOdd = 1_000_000

// oddities are the links, pipes, sockets and devices among what those inside may
// change, with where the links lead. The folders of single objects, directly below
// the guarded folder, hold too many files to look at, and git believes none by its name.
func (g guard) oddities() (map[string]string, error) {
	odd, left := map[string]string{}, mostOdd
	names, err := g.names()
	for _, name := range names {
		if !g.free(name) {
			continue
		}
		err = errors.Join(err, g.root.WalkAll(path.Join(g.name, name), func(e untrusted.Entry, err error) error {
			if left--; left < 0 {
				return errors.New("too much lies in it")
			}
			switch {
			case err != nil:
				odd[e.Path] = "closed"
				return nil //nolint:nilerr // it is on the list
			case e.Info.IsDir() && len(e.Info.Name()) == 2 && path.Dir(e.Path) == path.Join(g.name, "objects"):
				return fs.SkipDir
			case !e.Info.IsDir() && !e.Info.Mode().IsRegular():
				to, _ := e.In.Readlink(e.Name)
				odd[e.Path] = e.Info.Mode().Type().String() + to
			}
			return nil
		}))
	}
	return odd, err
}

// mend removes what those inside made in the folder and may not, and tells of it.
func (g guard) mend() (mended []string, err error) {
	info, err := g.root.Lstat(g.name)
	switch {
	case g.other, errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !info.IsDir(): // a link, or a file that leads to another
		return []string{path.Join(g.dir, g.name)}, g.clear()
	case err != nil:
		return nil, err
	}
	names, err := g.names()
	var made []string
	for _, name := range names {
		if !g.free(name) && !slices.Contains(g.known, name) {
			made = append(made, path.Join(g.name, name))
		}
	}
	odd, closed := g.oddities()
	for _, name := range slices.Sorted(maps.Keys(odd)) {
		if was, stood := g.odd[name]; !stood || was != odd[name] {
			made = append(made, name)
		}
	}
	err = errors.Join(err, closed)
	for _, name := range made {
		k := g.kept
		k.name = name
		mended, err = append(mended, path.Join(g.dir, name)), errors.Join(err, k.clear())
		if was, stood := g.held[name]; stood && was.unread == "" {
			err = errors.Join(err, g.restore(name, was))
		}
	}
	return mended, err
}

package putback

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// guard is a folder's content before a program ran.
type guard struct {
	kept // of the folder; held are the files in it that may change, to be there again where a link is

	but   []string
	other bool     // it is something else than a folder, which ReadOnly keeps
	known []string // what stands in it and may not change
	odd   map[string]string
}

func (f Files) guard(one Guard) (g guard, err error) {
	k, err := f.beneath(one.Dir)
	if err != nil {
		return guard{}, err
	}
	info, missing := k.root.Lstat(k.name)
	g = guard{kept: k, but: one.But, other: missing == nil && !info.IsDir()}
	free, closed, err := g.list()
	if g.known = closed; err == nil {
		g.odd, err = g.oddities(free)
	}
	if err == nil {
		g.held, err = g.files(free)
	}
	if err != nil {
		return guard{}, errors.Join(err, g.root.Close())
	}
	return g, nil
}

func (g guard) closed(dir string) (all []string) {
	for _, way := range g.known {
		all = append(all, filepath.Join(dir, way))
	}
	return all
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

// list sorts what lies in the folder, by the way to it, into what those inside may
// change and what not. A folder on the way to what they may change is neither. Both
// are empty where there is no folder.
func (g guard) list() (free, closed []string, err error) {
	if info, err := g.root.Lstat(g.name); err != nil || !info.IsDir() {
		return nil, nil, nil //nolint:nilerr // there is none
	}
	err = g.root.WalkAll(g.name, func(e untrusted.Entry, err error) error {
		way, _ := filepath.Rel(g.name, e.Path) // it lies there
		switch {
		case way == "." || errors.Is(err, fs.ErrNotExist):
			return err
		case g.allows(way):
			free = append(free, way)
		case err == nil && e.Info.IsDir() && g.leads(way):
			return nil
		default:
			closed = append(closed, way)
		}
		return fs.SkipDir
	})
	return free, closed, err
}

// allows tells whether those inside may change what lies there, and all below it.
func (g guard) allows(way string) bool {
	return slices.ContainsFunc(g.but, func(pattern string) bool {
		fits, _ := path.Match(pattern, way) // the patterns are well formed
		return fits
	})
}

func (g guard) leads(way string) bool {
	depth := strings.Count(way, "/") + 1
	return slices.ContainsFunc(g.but, func(pattern string) bool {
		names := strings.Split(pattern, "/")
		fits, _ := path.Match(strings.Join(names[:min(depth, len(names))], "/"), way)
		return fits && len(names) > depth
	})
}

// files are the changeable ones directly in the folder. HEAD is kept.
func (g guard) files(free []string) (map[string]node, error) {
	all := map[string]node{}
	for _, way := range free {
		one := g.kept
		one.name = path.Join(g.name, way)
		if info, err := g.root.Lstat(one.name); err != nil || !info.Mode().IsRegular() || strings.Contains(way, "/") {
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

const mostOdd = 1_000_000

// oddities are the links, pipes, sockets and devices among what those inside may
// change, with where the links lead. The folders of single objects, directly below
// the guarded folder, hold too many files to look at, and git believes none by its name.
func (g guard) oddities(free []string) (odd map[string]string, err error) {
	odd = map[string]string{}
	left := mostOdd
	for _, name := range free {
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
	free, closed, err := g.list()
	var made []string
	for _, way := range closed {
		if !slices.Contains(g.known, way) {
			made = append(made, path.Join(g.name, way))
		}
	}
	odd, failed := g.oddities(free)
	for _, name := range slices.Sorted(maps.Keys(odd)) {
		if was, stood := g.odd[name]; !stood || was != odd[name] {
			made = append(made, name)
		}
	}
	err = errors.Join(err, failed)
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

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

type guardedFolder struct {
	keptPath // of the folder; its content is the files in it that may change, to be there again where a link is

	changeable []string
	notAFolder bool     // it is something else than a folder, which ReadOnly keeps
	known      []string // what stands in it and may not change
	odd        map[string]string
}

func (f Files) guard(one Guard) (g guardedFolder, err error) {
	k, err := f.inWriteFolder(one.Dir)
	if err != nil {
		return guardedFolder{}, err
	}
	info, missing := k.root.Lstat(k.name)
	g = guardedFolder{keptPath: k, changeable: one.But, notAFolder: missing == nil && !info.IsDir()}
	free, closed, err := g.list()
	if g.known = closed; err == nil {
		g.odd, err = g.oddFiles(free)
	}
	if err == nil {
		g.content, err = g.files(free)
	}
	if err != nil {
		return guardedFolder{}, errors.Join(err, g.root.Close())
	}
	return g, nil
}

func (g guardedFolder) fixedPaths(dir string) (all []string) {
	for _, way := range g.known {
		all = append(all, filepath.Join(dir, way))
	}
	return all
}

// inWriteFolder is a path by the folder of Write that it lies in, with no content yet.
func (f Files) inWriteFolder(path string) (keptPath, error) {
	for _, dir := range f.Write {
		if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
			return openKept(dir, name)
		}
	}
	return keptPath{}, errors.New("it lies in no folder that can be written to")
}

func openKept(dir, name string) (keptPath, error) {
	root, err := untrusted.OpenRoot(dir)
	return keptPath{root: root, dir: dir, name: filepath.ToSlash(name)}, err
}

// list sorts what lies in the folder, by the way to it, into what those inside may
// change and what not. A folder on the way to what they may change is neither. Both
// are empty where there is no folder.
func (g guardedFolder) list() (free, closed []string, err error) {
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
		case err == nil && e.Info.IsDir() && g.leadsToChangeable(way):
			return nil
		default:
			closed = append(closed, way)
		}
		return fs.SkipDir
	})
	return free, closed, err
}

// allows tells whether those inside may change what lies there, and all below it.
func (g guardedFolder) allows(way string) bool {
	return slices.ContainsFunc(g.changeable, func(pattern string) bool {
		fits, _ := path.Match(pattern, way) // the patterns are well formed
		return fits
	})
}

func (g guardedFolder) leadsToChangeable(way string) bool {
	depth := strings.Count(way, "/") + 1
	return slices.ContainsFunc(g.changeable, func(pattern string) bool {
		names := strings.Split(pattern, "/")
		fits, _ := path.Match(strings.Join(names[:min(depth, len(names))], "/"), way)
		return fits && len(names) > depth
	})
}

// files are the changeable ones directly in the folder. HEAD is kept.
func (g guardedFolder) files(free []string) (map[string]savedNode, error) {
	all := map[string]savedNode{}
	for _, way := range free {
		one := g.keptPath
		one.name = path.Join(g.name, way)
		if info, err := g.root.Lstat(one.name); err != nil || !info.Mode().IsRegular() || strings.Contains(way, "/") {
			continue
		}
		found, err := one.readContent()
		if err != nil {
			return nil, err
		}
		maps.Copy(all, found)
	}
	return all, nil
}

const maxOdd = 1_000_000

// oddFiles are the links, pipes, sockets and devices among what those inside may
// change, with where the links lead. The folders of single objects, directly below
// the guarded folder, hold too many files to look at, and git believes none by its name.
func (g guardedFolder) oddFiles(free []string) (odd map[string]string, err error) {
	odd = map[string]string{}
	left := maxOdd
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

func (g guardedFolder) mend() (mended []string, err error) {
	info, err := g.root.Lstat(g.name)
	switch {
	case g.notAFolder, errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil && !info.IsDir(): // a link, or a file that leads to another
		return []string{path.Join(g.dir, g.name)}, g.moveAside()
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
	odd, failed := g.oddFiles(free)
	for _, name := range slices.Sorted(maps.Keys(odd)) {
		if was, stood := g.odd[name]; !stood || was != odd[name] {
			made = append(made, name)
		}
	}
	err = errors.Join(err, failed)
	for _, name := range made {
		k := g.keptPath
		k.name = name
		mended, err = append(mended, path.Join(g.dir, name)), errors.Join(err, k.moveAside())
		if was, stood := g.content[name]; stood && was.whyUnread == "" {
			err = errors.Join(err, g.restore(name, was))
		}
	}
	return mended, err
}

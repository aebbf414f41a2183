package putback

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// guardedFolder exports what is written into a mark.
type guardedFolder struct {
	keptPath // of the folder; its content is the files in it that may change, to be there again where a link is

	Changeable []string
	NotAFolder bool     // it is something else than a folder, which ReadOnly keeps
	Known      []string // what stands in it and may not change
	Odd        map[string]string
	Absent     bool // nothing may be there at all
}

func (f Files) guard(one Guard, others records, left *budget) (g guardedFolder, err error) {
	k, err := f.inWriteFolder(one.Dir)
	if err != nil {
		return guardedFolder{}, err
	}
	info, missing := k.root.Lstat(k.name)
	k.content = map[string]savedNode{}
	room := left.room()
	g = guardedFolder{keptPath: k, Changeable: one.But, NotAFolder: missing == nil && !info.IsDir(), Odd: map[string]string{}}
	g, known := others.guardAt(g)
	entries := maxWalked
	err = g.walk(func(e untrusted.Entry, way, odd string) error {
		switch entries--; {
		case entries < 0:
			return errCrowded
		case odd != "" && known:
		case odd == fixed:
			g.Known = append(g.Known, way)
		case odd != "":
			g.Odd[e.Path] = odd
		case e.Info.Mode().IsRegular() && !strings.Contains(way, "/") && e.Info.Size() <= room: // HEAD is one
			n, err := readUpTo(room, e, nil, new(int64))
			g.content[e.Path] = n
			room -= int64(len(e.Path) + len(n.Text))
			left.take(len(n.Text))
			return err
		}
		return nil
	})
	if err != nil {
		return guardedFolder{}, errors.Join(err, g.root.Close())
	}
	return g, nil
}

func (g guardedFolder) fixedPaths(dir string) (all []string) {
	for _, way := range g.Known {
		all = append(all, filepath.Join(dir, way))
	}
	return all
}

// inWriteFolder returns a path by the folder of Write that it lies in, with no content yet.
func (f Files) inWriteFolder(path string) (keptPath, error) {
	for _, dir := range f.Write {
		if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
			return f.outermost(dir, name)
		}
	}
	return keptPath{}, errors.New("it lies in no folder that can be written to")
}

// outermost returns a path in a folder by the folder of Write that both lie in, if there is one: a program could
// exchange all that lies in that.
func (f Files) outermost(dir, name string) (keptPath, error) {
	inner := placeOf(dir)
	best, place := inner, filepath.Join(inner, name)
	for i, folder := range f.Write {
		outer := f.places[i]
		if way, err := filepath.Rel(outer, place); err == nil && filepath.IsLocal(way) && way != "." && len(outer) < len(best) {
			best, dir, name = outer, folder, way
		}
	}
	return openKept(dir, name)
}

func placesOf(dirs []string) (places []string) {
	for _, dir := range dirs {
		places = append(places, placeOf(dir))
	}
	return places
}

func placeOf(dir string) string {
	if place, err := filepath.EvalSymlinks(dir); err == nil {
		return place
	}
	return dir
}

func openKept(dir, name string) (keptPath, error) {
	root, err := untrusted.OpenRoot(dir)
	k := keptPath{root: root, dir: dir, name: filepath.ToSlash(name), place: filepath.Join(placeOf(dir), name)}
	if err == nil {
		k.links = k.linksOnWay()
	}
	return k, err
}

// fixed is what those inside may not change.
const fixed = "fixed"

// maxWalked is up to how many entries a command may begin. After it all are looked at: no link may stay unseen.
var maxWalked = 1_000_000 // it changes in tests only

var errCrowded = errors.New("too much lies in it")

// walk tells of what lies in the folder, by the way to it, what is odd about it: it is fixed; or a link, pipe, socket,
// device, closed folder, or too large a file among what those inside may change. A folder on the way to what they may
// change is left out. So is what lies in the folders of single objects: they hold too many files to look at, and git
// believes none by its name. It keeps nothing, so that agents can leave any number.
func (g guardedFolder) walk(visit func(e untrusted.Entry, way, odd string) error) error {
	if g.onlyName() {
		return nil
	}
	free := ""
	return g.root.WalkAll(g.name, func(e untrusted.Entry, err error) error {
		way, _ := filepath.Rel(g.name, e.Path) // it lies there
		if !strings.HasPrefix(way+"/", free+"/") || free == "" {
			if free = ""; g.allows(way) {
				free = way
			}
		}
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return nil
		case way == ".":
			return err
		case free == "" && err == nil && e.Info.IsDir() && g.leadsToChangeable(way):
			return nil
		case free == "":
			return cmp.Or(visit(e, way, fixed), fs.SkipDir)
		}
		switch {
		case err != nil:
			return visit(e, way, "closed")
		case e.Info.IsDir() && len(e.Info.Name()) == 2 && path.Dir(e.Path) == path.Join(g.name, "objects"):
			return cmp.Or(visit(e, way, ""), fs.SkipDir)
		case e.Info.Mode().IsRegular() && e.Info.Size() > mostOf(way):
			return visit(e, way, "too large")
		case e.Info.IsDir(), e.Info.Mode().IsRegular():
			return visit(e, way, "")
		}
		to, _ := e.In.Readlink(e.Name)
		return visit(e, way, e.Info.Mode().Type().String()+to)
	})
}

// mostOf limits what git reads into memory at each start: a sparse file takes no disk.
func mostOf(way string) int64 {
	switch {
	case way == "HEAD", strings.HasPrefix(way, "refs/"):
		return 1 << 20
	case way == "packed-refs":
		return 256 << 20
	}
	return math.MaxInt64
}

// allows reports whether those inside may change what lies there, and all below it.
func (g guardedFolder) allows(way string) bool {
	return slices.ContainsFunc(g.Changeable, func(pattern string) bool {
		fits, _ := path.Match(pattern, way) // the patterns are well formed
		return fits
	})
}

// onlyName reports that all in the folder may change, and it may not become a link.
func (g guardedFolder) onlyName() bool { return slices.Contains(g.Changeable, ".") }

func (g guardedFolder) leadsToChangeable(way string) bool {
	depth := strings.Count(way, "/") + 1
	return slices.ContainsFunc(g.Changeable, func(pattern string) bool {
		names := strings.Split(pattern, "/")
		fits, _ := path.Match(strings.Join(names[:min(depth, len(names))], "/"), way)
		return fits && len(names) > depth
	})
}

// maxTold names are told: agents can make any number.
const maxTold = 100

// mend holds no list of what agents made.
func (g guardedFolder) mend() (mended []string, err error) {
	info, err := g.root.Lstat(g.name)
	switch {
	case g.NotAFolder, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), err == nil && g.onlyName() && info.Mode().IsRegular(): // nothing can lie there
		return nil, nil
	case err == nil && (g.Absent || !info.IsDir()): // a link, or a file that leads to another
		return []string{path.Join(g.dir, g.name)}, g.take(g.root, g.name)
	case err != nil:
		cleared, failed := g.clearWay(g.take)
		if len(cleared) == 0 {
			failed = err
		}
		return cleared, failed
	}
	var failed error
	err = g.walk(func(e untrusted.Entry, way, odd string) error {
		was, stood := g.Odd[e.Path]
		openUnreadable(e, cmp.Or(odd, was))
		if odd == "" || odd == fixed && slices.Contains(g.Known, way) || stood && was == odd {
			return nil
		}
		if len(mended) < maxTold {
			mended = append(mended, path.Join(g.dir, e.Path))
		}
		failed = cmp.Or(failed, g.remove(e))
		return fs.SkipDir
	})
	return mended, errors.Join(err, failed)
}

// openUnreadable opens a folder that those inside closed: what lies in it is the user's.
func openUnreadable(e untrusted.Entry, odd string) {
	if odd == "" && e.Info.IsDir() && e.Info.Mode().Perm()&0o500 != 0o500 {
		e.In.OpenToOwner(e.Name)
	}
}

func (g guardedFolder) remove(e untrusted.Entry) error {
	err := g.take(e.In, e.Name)
	if was, stood := g.content[e.Path]; stood && was.WhyUnread == "" {
		err = errors.Join(err, g.restore(e.Path, was))
	}
	return err
}

func (g guardedFolder) take(root *untrusted.Root, name string) error {
	if g.content == nil { // by a mark
		return setAside(root, name)
	}
	return moveAside(root, name)
}

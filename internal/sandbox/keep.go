package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// mostKept bounds what is held in memory of ReadOnly: a git folder's
// configuration and hooks are a few kilobytes.
const mostKept = 16 << 20

// kept is what ReadOnly held before a program ran, to be put back. Where a
// mount keeps it from being written to there is nothing to put back; but what
// was not there cannot be mounted, and Landlock cannot take a folder out of
// another.
type kept struct {
	root *os.Root // the folder of Write; links that lead out of it are not followed
	dir  string
	name string // within root
	held map[string]node
}

// node is a file, a folder or a link.
type node struct {
	mode fs.FileMode
	text []byte // of a file, or where a link leads
}

type keeping []kept

func (w Wall) keepReadOnly() (keeping, error) {
	var all keeping
	if !w.has(mending) {
		return nil, nil
	}
	for _, file := range w.ReadOnly {
		k, err := w.keep(file)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("keep %s as it is: %w", file, err), all.close())
		}
		all = append(all, k)
	}
	return all, nil
}

func (w Wall) keep(file string) (kept, error) {
	for _, dir := range w.Write {
		name, err := filepath.Rel(dir, file)
		if err != nil || !filepath.IsLocal(name) || name == "." {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return kept{}, err
		}
		k := kept{root: root, dir: dir, name: filepath.ToSlash(name)}
		if k.held, err = k.look(); err != nil {
			return kept{}, errors.Join(err, root.Close())
		}
		return k, nil
	}
	return kept{}, errors.New("it lies in no folder that can be written to")
}

// look reads what is there now, links as links.
func (k kept) look() (map[string]node, error) {
	found, size := map[string]node{}, 0
	err := fs.WalkDir(k.root.FS(), k.name, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		n, err := k.read(name, d)
		if size += len(n.text); size > mostKept {
			return errors.New("too large to be kept")
		}
		found[name] = n
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}

func (k kept) read(name string, d fs.DirEntry) (node, error) {
	info, err := k.root.Lstat(name)
	if err != nil {
		return node{}, err
	}
	n := node{mode: info.Mode()}
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		to, err := k.root.Readlink(name)
		n.text = []byte(to)
		return n, err
	case d.Type().IsRegular() && info.Size() > mostKept:
		return n, errors.New("too large to be kept")
	case d.Type().IsRegular():
		n.text, err = k.root.ReadFile(name)
	}
	return n, err
}

// putBack makes ReadOnly what it was, and tells what was not.
func (all keeping) putBack(tell func([]string)) error {
	var mended []string
	var errs []error
	for _, k := range all {
		list, err := k.mend()
		if err != nil {
			errs = append(errs, fmt.Errorf("put %s back: %w", path.Join(k.dir, k.name), err))
		}
		mended = append(mended, list...)
	}
	if len(mended) > 0 && tell != nil {
		tell(mended)
	}
	return errors.Join(append(errs, all.close())...)
}

// mend returns what was not as it had been. All of it is then made anew, from
// the top down: what stands in the way of one thing may be another.
func (k kept) mend() ([]string, error) {
	now, err := k.look()
	if err != nil { // it cannot even be read
		now = map[string]node{k.name: {mode: fs.ModeIrregular}}
	}
	changed := k.changed(now)
	if len(changed) == 0 {
		return nil, nil
	}
	if err := k.root.RemoveAll(k.name); err != nil {
		return changed, err
	}
	for _, name := range slices.Sorted(maps.Keys(k.held)) {
		if err := k.restore(name, k.held[name]); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

func (k kept) changed(now map[string]node) []string {
	var list []string
	for name, n := range now {
		if was, ok := k.held[name]; !ok || was.mode != n.mode || !bytes.Equal(was.text, n.text) {
			list = append(list, path.Join(k.dir, name))
		}
	}
	for name := range k.held {
		if _, ok := now[name]; !ok {
			list = append(list, path.Join(k.dir, name))
		}
	}
	slices.Sort(list)
	return list
}

func (k kept) restore(name string, n node) error {
	if err := k.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch {
	case n.mode&fs.ModeSymlink != 0:
		return k.root.Symlink(string(n.text), name)
	case n.mode.IsDir():
		if err := k.root.Mkdir(name, n.mode.Perm()); err != nil {
			return err
		}
	default:
		if err := k.root.WriteFile(name, n.text, n.mode.Perm()); err != nil {
			return err
		}
	}
	return k.root.Chmod(name, n.mode.Perm())
}

func (all keeping) close() error {
	var errs []error
	for _, k := range all {
		errs = append(errs, k.root.Close())
	}
	return errors.Join(errs...)
}
